#!/usr/bin/env bash
# Write what a pull request brings as one comment under it, and update that one from then on.
# In: BASE, FOLDER, NUMBER, GH_TOKEN, GITHUB_REPOSITORY, RUNNER_TEMP. A comment that cannot be written is a warning.
set -euo pipefail

body="$RUNNER_TEMP/ledger-comment.md"
if ! "$RUNNER_TEMP/ledger/bin/ledger" -C "$FOLDER" diff --rev "$BASE..HEAD" --markdown > "$body"; then
  echo "::warning title=ledger::there is no comment on a checkpoint that cannot be read; the check says why"
  exit 0  # or the check would not run
fi
marker=$(head -n 1 "$body")

comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
# Only a comment that starts with the marker and was written by a bot is ours: anybody may quote one.
own=$(gh api --paginate "$comments" \
  --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id" | sed -n 1p) || own=
if [ -n "$own" ]; then
  gh api --silent -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$own" -F "body=@$body" && exit 0
elif ! grep -q '^### Ledger: nothing changed$' "$body" || grep -q '^- ❌' "$body"; then  # of that nobody needs to hear
  gh api --silent -X POST "$comments" -F "body=@$body" && exit 0
else
  exit 0
fi
echo "::warning title=ledger::the comment could not be written: does the job have the permission pull-requests: write?"
