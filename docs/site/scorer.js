// What comes first in a search: pages of tasks, then other pages; options, experiments and changes last.
"use strict";

const SHARES = [
  [/^docs\/how-to\//, 4],
  [/^docs\/gallery$/, 2],
  [/^(index|docs\/(start|choosing|formats|training|predicting|evaluating|checking|explaining|inspecting|tuning|reports))$/, 2],
  [/^docs\/(nightly-job|scaling|serving)$/, 2],
  [/^docs\/(development|experiments)$/, 0.3],
  [/^reference\//, 0.5],
  [/^examples\//, 0.2],
  [/^CHANGELOG$/, 0.05],
];

var Scorer = {
  score: ([page, , , , score]) => {
    const found = SHARES.find(([pattern]) => pattern.test(page));
    return score * (found ? found[1] : 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
