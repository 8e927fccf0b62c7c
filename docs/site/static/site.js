// A button on every block of code that copies it: of a console, the commands without prompts and output.
"use strict";

const copied = (pre) => {
  const text = pre.innerText.replace(/\n+$/, "");
  const lines = text.split("\n");
  const commands = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
  return pre.closest(".highlight-console") && commands.length ? commands.join("\n") : text;
};

document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  document.querySelectorAll("div.highlight").forEach((block) => {
    const pre = block.querySelector("pre");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(copied(pre));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  });
});
