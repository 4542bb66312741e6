# Reads values that NUL bytes end, and prints five NUL-ended texts for each: what bash makes of it.
while IFS= read -r -d '' value; do
  printf '%q\0' "$value"
  printf '%s\0' "${value@Q}"
  declare -p value | tr -d '\0'
  printf '\0'
  (LC_ALL=C; printf '%q\0' "$value")
  (set -x; : "$value") 2>&1 | tr -d '\0'
  printf '\0'
done
