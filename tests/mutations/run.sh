#!/usr/bin/env bash
# Flips the rules in rules.txt one by one, in a copy, and sees that a test fails: `tests/mutations/run.sh [PART OF A NAME]`.
#
# First the unit tests of the runtime run, then the tests of the public face. Prints a line for each rule and how long it
# took; exits 1 if a flip was not noticed, or if a substitution fits nothing any more.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD copy=$PWD/target/mutations/copy
export CARGO_TARGET_DIR=$PWD/target/mutations/build CARGO_INCREMENTAL=1 RUSTFLAGS=-Awarnings
git worktree remove --force "$copy" 2>/dev/null || true
git worktree add --quiet --detach "$copy" HEAD
trap 'git -C "$here" worktree remove --force "$copy"' EXIT
cd "$copy"

log=$here/target/mutations/log
tests() {
    cargo test --quiet -p torch-library --lib >"$log" 2>&1 &&
        cargo test --quiet -p torch-library-tests --test it --test conflicts >"$log" 2>&1
}

tests || { echo "the tests fail before anything is flipped: see target/mutations/log"; exit 1; }
unnoticed=0
while IFS='|' read -r name file change; do
    name=$(sed 's/ *$//' <<<"$name") file=$(tr -d ' ' <<<"$file")
    [[ -n $name && $name != \#* && $name == *${1:-}* ]] || continue
    started=$SECONDS
    # Changes that need another file as well name it in their pattern; all are tried on the file and its folder.
    perl -0pi -e "$change" "$file" $(find "${file%.rs}" -name '*.rs' 2>/dev/null)
    if git diff --quiet; then outcome="FITS NOTHING"
    elif tests; then outcome="NOT NOTICED"
    elif grep -q "could not compile" "$log"; then outcome="DOES NOT COMPILE"
    else outcome="noticed"; fi
    [[ $outcome == noticed ]] || unnoticed=$((unnoticed + 1))
    printf '%-18s%4d s  %s\n' "$outcome" $((SECONDS - started)) "$name"
    git checkout --quiet .
done < <(grep -v '^#' "$here/tests/mutations/rules.txt" | sed 's/ | /|/; s/ | /|/')
echo "$unnoticed of the flips were not noticed"
[[ $unnoticed == 0 ]]
