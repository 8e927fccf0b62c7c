"""``vwlite completion``: scripts that complete command lines of ``vwlite`` without starting it."""

import shlex
from collections.abc import Callable, Sequence
from textwrap import shorten

import click

from vwlite.cli.manual import FILES, Known, list_commands, values_of
from vwlite.cli.parser import Choice
from vwlite.cli.root import SETTINGS
from vwlite.version import __version__

DASHES, UNDERSCORES = str.maketrans("_", "-"), str.maketrans("-", "_")
Choose = Callable[[Sequence[str]], str]  # the shell's command that completes one of some words


def write_script(shell: str) -> str:
    """The script for ``shell``: bash, zsh or fish."""
    known = list_commands()
    template, step, case = SHELLS[shell]
    steps = [step(*entry.name.rpartition(" ")[::2], entry.name) for entry in known if entry.name]
    filled = template.replace("@STEPS@", "\n".join(steps)).replace("@CASES@", "\n".join(map(case, known)))
    return filled.replace("@MADE@", f"of vwlite {__version__}, made by 'vwlite completion {shell}'")


def list_spellings(option: click.Option) -> list[str]:
    """List all that the option may be typed as."""
    typed = [*option.opts, *option.secondary_opts]
    return list(dict.fromkeys([*typed, *(other for name in typed for other in other_spellings(name))]))


def other_spellings(name: str) -> list[str]:
    """Other spellings of an option that has several words."""
    dashed, underscored = (f"--{name[2:].translate(mark)}" for mark in (DASHES, UNDERSCORES))
    return [other for other in (dashed, underscored) if other != name] if name.startswith("--") else []


def list_options(known: Known) -> list[tuple[str, str]]:
    """The options of a command as they are declared, each with the beginning of its help."""
    return [
        (name, shorten(option.help or "", 72, placeholder=" ..."))
        for option in known.options
        for name in (*option.opts, *option.secondary_opts)
    ]


def write_arms(known: Known, choose: Choose, files: str, nothing: str, arm: Callable[[str, str], str]) -> str:
    """Arms of a shell's ``case`` over the word before: what follows each option that has a value."""
    lines = []
    for option in known.options:
        if not (option.is_flag or option.count):
            act = act_for(values_of(option), choose, files, nothing)
            lines.append(arm(" ".join(list_spellings(option)), act))
    return "\n".join(lines)


def act_for(values: Sequence[str], choose: Choose, files: str, nothing: str) -> str:
    """What the shell does where one of these values may stand: propose files, them, or nothing."""
    if values == FILES:
        return files
    return choose(values) if values else nothing


def quote_words(words: Sequence[str]) -> str:
    return shlex.quote(" ".join(words))


def posix_step(before: str, word: str, name: str) -> str:
    return f"            {shlex.quote(f'{before}:{word}')}) command={shlex.quote(name)} ;;"


def posix_arm(names: str, act: str) -> str:
    return f"                {names.replace(' ', '|')}) {act}; return ;;"


def bash_words(words: Sequence[str]) -> str:
    return f"_vwlite_words {quote_words(words)}"


def bash_case(known: Known) -> str:
    names = [name for name, _ in list_options(known)]
    others = [other for name in names for other in other_spellings(name)]
    what = (bash_words, "compopt -o default", ":")
    return (
        f"        {shlex.quote(known.name)})\n            case $previous in\n"
        f"{write_arms(known, *what, posix_arm)}\n            esac\n"
        f"            if [[ $current == -* ]]; then _vwlite_words {quote_words(names)} {quote_words(others)}\n"
        f"            else {act_for(known.words, *what)}; fi ;;"
    )


BASH = """\
# bash completion @MADE@

_vwlite_words() {  # those of $1 that begin as what is typed; if there are none, those of $2
    local word words
    for words in "$1" "$2"; do
        for word in $words; do [[ $word == "$current"* ]] && COMPREPLY+=("$word"); done
        (( ${#COMPREPLY[@]} )) && return
    done
}

_vwlite() {
    local IFS=$' \\t\\n' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= i
    COMPREPLY=()
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case $command:${COMP_WORDS[i]} in
@STEPS@
        esac
    done
    case $command in
@CASES@
    esac
}

complete -F _vwlite vwlite
"""


def zsh_words(words: Sequence[str]) -> str:
    return f"compadd -- {shlex.join(words)}"


def zsh_case(known: Known) -> str:
    options = " ".join(shlex.quote(f"{name}:{help}") for name, help in list_options(known))
    what = (zsh_words, "_files", "_message 'a value'")
    return (
        f"        {shlex.quote(known.name)})\n            case $previous in\n"
        f"{write_arms(known, *what, posix_arm)}\n            esac\n"
        f"            if [[ $PREFIX == -* ]]; then\n                options=({options})\n"
        "                _describe -o option options -M 'm:{-_}={_-}'\n"
        f"            else {act_for(known.words, *what)}; fi ;;"
    )


ZSH = """\
#compdef vwlite
# zsh completion @MADE@

_vwlite() {
    local command= previous=${words[CURRENT - 1]} i
    local -a options
    for ((i = 2; i < CURRENT; i++)); do
        case $command:${words[i]} in
@STEPS@
        esac
    done
    if [[ ${words[CURRENT]} == --*=* ]]; then
        previous=${words[CURRENT]%%=*}
        compset -P '*='
    fi
    case $command in
@CASES@
    esac
}

if [[ $funcstack[1] == _vwlite ]]; then _vwlite "$@"; else compdef _vwlite vwlite; fi
"""


def fish_words(words: Sequence[str]) -> str:
    return f"for word in {' '.join(map(quote_fish, words))}; echo $begin$word; end"


def quote_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_step(before: str, word: str, name: str) -> str:
    return f"            case {quote_fish(f'{before}:{word}')}\n                set command {quote_fish(name)}"


def fish_arm(names: str, act: str) -> str:
    return f"                case {names}\n                    {act}\n                    return"


def fish_case(known: Known) -> str:
    options = " ".join(quote_fish(f"{name}\t{help}") for name, help in list_options(known))
    what = (fish_words, "__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current)", "true")
    return (
        f"        case {quote_fish(known.name)}\n            switch \"$previous\"\n"
        f"{write_arms(known, *what, fish_arm)}\n            end\n"
        f"            if string match -q -- '-*' \"$current\"\n                __vwlite_options {options}\n"
        f"            else\n                {act_for(known.words, *what)}\n            end"
    )


FISH = """\
# fish completion @MADE@

function __vwlite_options --no-scope-shadowing  # as they are declared, or in the other spelling where that is typed
    printf '%s\\n' $argv
    if string match -qr -- '^--.*-' $current
        for option in (string match -e -- _ (string replace -r '\\t.*' '' -- $argv))
            echo --(string replace -a _ - -- (string sub -s 3 -- $option))
        end
    end
end

function __vwlite
    set -l command ''
    set -l begin ''
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l previous $typed[-1]
    for word in $typed[2..]
        switch "$command:$word"
@STEPS@
        end
    end
    if string match -qr -- '^--[^=]*=' $current
        set previous (string replace -r '=.*' '' -- $current)
        set begin $previous=
    end
    switch "$command"
@CASES@
    end
end

complete -c vwlite -f -a '(__vwlite)'
"""

SHELLS = {
    "bash": (BASH, posix_step, bash_case),
    "zsh": (ZSH, posix_step, zsh_case),
    "fish": (FISH, fish_step, fish_case),
}


@click.command(
    "completion",
    context_settings=SETTINGS,
    short_help="Print what makes a shell complete command lines.",
)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a script that makes a shell complete commands, options, their values and names of files.

    \b
    vwlite completion bash > ~/.local/share/bash-completion/completions/vwlite
    vwlite completion zsh > ~/.zfunc/_vwlite          (a folder in fpath)
    vwlite completion fish > ~/.config/fish/completions/vwlite.fish

    The script holds all names and starts no program. Make it anew when another version is installed.
    """
    click.echo(write_script(shell), nl=False)
