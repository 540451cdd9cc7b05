#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reports_what_nothing_notices.sh PROGRAM LIST EQUIVALENT EXPECTED: the example's program must fail, and say
# exactly what is expected.
set -u
said=$("$1" "$2" "$3")
[ $? -eq 1 ] || { echo "it did not fail"; exit 1; }
diff "$4" - <<<"$said"
