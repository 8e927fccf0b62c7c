"""The cases recorded from Vowpal Wabbit itself, run through ``vwlite vw``."""

import re
import subprocess
import sys

import pytest

# Each family is one the drop-in promises to agree on.
FAMILIES = (
    "affix,audit,basic,bfgs,csoaa,ftrl,hashing,holdout,ignore_keep,interactions,l1l2,loss,model_state,model_text,"
    "ngram,oaa,parsing,passes,progress,rates,test_mode,update_rule"
)


MORE = "audit_regressor,binary,classweight,feature_limit,ftrl,ksvm,lrq,multilabel_oaa,random_weights"


SELECTED = {  # and how many cases there are at least
    ("--tier", "core", "--family", FAMILIES): 180,
    ("--tier", "extra", "--family", MORE): 36,
    ("--only", "39,40,85,146,338,340,341,343"): 8,  # logged decisions; others of their families explore
    ("--only", "38,595"): 2,  # networks; others of their family ask for an audit and for dropout
}


@pytest.mark.parametrize("selection", SELECTED, ids=lambda words: words[1])
def test_agrees_with_vw(selection, conformance_dir, cli_env, commands):
    runner = [sys.executable, conformance_dir / "run_conformance.py"]
    command = [*runner, *selection, "--jobs", "2", str(commands / "vwlite"), "vw"]
    done = subprocess.run(command, capture_output=True, text=True, env=cli_env)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(re.search(r"(\d+) passed, 0 failed", done.stdout)[1])
    assert passed >= SELECTED[selection]  # or the families are not called what they were
