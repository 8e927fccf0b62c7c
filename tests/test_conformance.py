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


@pytest.mark.parametrize(("tier", "families", "least"), [("core", FAMILIES, 180), ("extra", MORE, 36)])
def test_agrees_with_vw(tier, families, least, conformance_dir, cli_env):
    runner = [sys.executable, conformance_dir / "run_conformance.py"]
    selection = ["--tier", tier, "--family", families, "--jobs", "2"]
    program = [sys.executable, "-m", "vwlite", "vw"]
    command = [*runner, *selection, *program]
    done = subprocess.run(command, capture_output=True, text=True, env=cli_env)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(re.search(r"(\d+) passed, 0 failed", done.stdout)[1])
    assert passed >= least  # or the families are not called what they were
