#!/bin/sh
# One line for one request: what a CGI program is given of it, in hexadecimal. Each part but the
# last, which is the body, ends with a NUL, that no other part can have.
{
  printf 200
  printf '\t'
  {
    printf '%s\0' "$REQUEST_METHOD" "$REQUEST_URI" "$HTTP_X_TENANT_ID" "$HTTP_IDEMPOTENCY_KEY"
    cat
  } | od -An -v -tx1 | tr -d ' \n'
  echo
} >"$SEEN_FILE.$$"
cat "$SEEN_FILE.$$" >>"$SEEN_FILE"
rm -f "$SEEN_FILE.$$"
printf 'Content-Type: text/plain\r\n\r\nseen'
