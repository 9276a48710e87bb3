#!/usr/bin/env bash
# Moves a file for icestream with curl (7.87 or later), from and to http:, https: and s3: URLs:
#
#   source: { fetch: [/usr/share/icestream/sites/transfer/curl.sh, fetch, "{path}"] }
#   sink:
#     url: "https://data.example.org/hits/{name}"
#     ship: [/usr/share/icestream/sites/transfer/curl.sh, ship, "{path}"]
#
# A third word of fetch is the largest size of a file in bytes, 100000000000 without it. One request ships a file, so
# S3 takes at most 5 GB of it; copy.sh moves larger ones. docs/transfers.md says what is promised, and where
# credentials come from. They go to curl through a pipe, because everybody can read command lines.
action=${1:-} path=${2:-} most=${3:-100000000000}
# shellcheck source=configs/sites/transfer/common.bash
. "$(dirname "$(realpath "$0")")/common.bash"
[[ $most =~ ^[1-9][0-9]{0,14}$ ]] || end 78 "found '$most', expected the largest size in bytes"
work=$(mktemp -d) || exit 75
child='' more=$work/more
trap 'rm -rf "$work" "$more"' EXIT
trap '[[ -z $child ]] || kill "$child"; exit 75' TERM INT

# ---- where it goes, and with which credentials

# quote TEXT: prints it for a file of options of curl.
quote() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# check_file FILE NAME: ends unless the file is a regular one; a pipe would be waited for.
check_file() {
    [[ -f $1 ]] || end 78 "$2: $1: expected a regular file"
}

# check_private FILE NAME: ends unless the file is one that nobody else may read.
check_private() {
    local about
    check_file "$1" "$2"
    about=$(stat -L -c '%u %a' -- "$1" 2>&1)
    # A file of root may have a group: secrets of Kubernetes and credentials of systemd look like this.
    [[ $about =~ ^0\ [0-7]?[0-7][04]0$ || $about =~ ^$EUID\ [0-7]?[0-7]00$ ]] ||
        end 78 "$2: $1: expected a file of this user or root that nobody else may read (chmod 600)"
}

# A token by the names of the WLCG. It goes to servers with TLS, and to this machine.
add_token() {
    local token=${BEARER_TOKEN:-} file=${BEARER_TOKEN_FILE:-}
    [[ $url =~ ^https:// || $url =~ ^http://([^/?#]*@)?(localhost|127\.0\.0\.1|\[::1\])([:/?#]|$) ]] || return 0
    if [[ -z $token && -n $file ]]; then
        check_private "$file" BEARER_TOKEN_FILE
        read -r token <"$file" || [[ -n $token ]] || end 78 "BEARER_TOKEN_FILE: $file: expected a token in the first line"
    fi
    [[ -z $token ]] || secrets+="oauth2-bearer = $(quote "$token")"$'\n'
}

# Reads the keys of the profile in the file of credentials.
read_keys() {
    local file=${AWS_SHARED_CREDENTIALS_FILE:-${HOME:-}/.aws/credentials} line section=
    [[ -e $file ]] || end 78 "found no keys for S3, expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the file $file"
    check_private "$file" "keys for S3"
    while read -r line || [[ -n $line ]]; do
        if [[ $line =~ ^\[([^]]*)\] ]]; then
            section=${BASH_REMATCH[1]}
        elif [[ $section == "${AWS_PROFILE:-default}" && $line =~ ^([a-z_]+)[[:space:]]*=[[:space:]]*([^[:space:]]+) ]]; then
            case ${BASH_REMATCH[1]} in
            aws_access_key_id) key=${BASH_REMATCH[2]} ;;
            aws_secret_access_key) secret=${BASH_REMATCH[2]} ;;
            aws_session_token) session=${BASH_REMATCH[2]} ;;
            esac
        fi
    done <"$file"
    [[ -n $key && -n $secret ]] || end 78 "keys for S3: $file: expected aws_access_key_id and aws_secret_access_key in [${AWS_PROFILE:-default}]"
}

# Makes the URL of an object: the bucket is a part of the name of Amazon's host, where certificates have no dots in
# it, and of the path elsewhere. The key is decoded and encoded again: the signature is that of one certain form.
open_s3() {
    [[ $url =~ ^s3://([A-Za-z0-9][A-Za-z0-9._-]{2,62})/([^?#]+)$ ]] || end 66 'expected s3://BUCKET/KEY, without a user and a query'
    local bucket=${BASH_REMATCH[1]} name='' byte i key=${AWS_ACCESS_KEY_ID:-} secret=${AWS_SECRET_ACCESS_KEY:-}
    local session=${AWS_SESSION_TOKEN:-} region=${AWS_REGION:-${AWS_DEFAULT_REGION:-us-east-1}}
    local endpoint=${AWS_ENDPOINT_URL_S3:-${AWS_ENDPOINT_URL:-}}
    decode "${BASH_REMATCH[2]}"
    for ((i = 0; i < ${#decoded}; ++i)); do
        byte=${decoded:i:1}
        [[ $byte == [A-Za-z0-9._~/-] ]] || printf -v byte '%%%02X' "'$byte"
        name+=$byte
    done
    [[ -n $key && -n $secret ]] || read_keys
    if [[ -n $endpoint ]]; then
        [[ $endpoint =~ ^https?://[^/?#@]+/?$ ]] || end 78 'AWS_ENDPOINT_URL: expected http://HOST:PORT or https://HOST:PORT'
        url=${endpoint%/}/$bucket/$name
    elif [[ $bucket == *.* ]]; then
        url=https://s3.$region.amazonaws.com/$bucket/$name
    else
        url=https://$bucket.s3.$region.amazonaws.com/$name
    fi
    secrets="aws-sigv4 = $(quote "aws:amz:$region:s3")"$'\n'"user = $(quote "$key:$secret")"$'\n'
    [[ -z $session ]] || secrets+="header = $(quote "x-amz-security-token: $session")"$'\n'
    is_s3=yes
}

# allowed URL: whether the URL begins with a prefix of source.allow and stays below it (docs/queue.md).
allowed() {
    local path=${1%%[?#]*} prefix
    [[ -n ${ICESTREAM_ALLOW:-} ]] || return 0
    [[ ! ${path#*://} =~ /(\.|%2[eE]){1,2}(/|$)|\\|%2[fF]|%5[cC] ]] || return 1
    for prefix in $ICESTREAM_ALLOW; do
        [[ $1 != "$prefix"* ]] || return 0
    done
    return 1
}

# ---- one request

# header NAME: prints the value of this header of the answer.
header() {
    sed -n "s/^$1: *//Ip" "$work/headers" | tr -d '\r' | tail -n 1
}

# is_other BODY: whether the file of an answer without an announced size does not begin as a step file does.
is_other() {
    [[ -f $1 && $(stat -c %s -- "$1") -ge 6 && $(head -c 6 -- "$1" | od -An -tx1) != ' 93 4e 55 4d 50 59' &&
        -z $(header Content-Length) && $(sed -n 's/^HTTP[^ ]* \([0-9]*\).*/\1/p' "$work/headers") == 200 ]]
}

# end_early BODY: ends curl if the body is such a file, because it may have no end. It ends with curl.
end_early() {
    while kill -0 "$child"; do
        ! is_other "$1" || kill "$child"
        sleep 0.1
    done
}

# ask OUTPUT OPTION...: asks with these options of curl, and follows redirections. Sets `status` to that of the
# answer, and `code` to the exit status of curl; the body is in OUTPUT. Neither a token nor a key goes along with a
# redirection, and a signature holds for one URL only.
ask() {
    local output=$1 at=$url with=$secrets protocols='=http,https' hops=0 to watcher
    while true; do
        [[ $at != https://* ]] || protocols='=https'
        : >"$work/headers"
        : >"$output"
        # The limit of the shell ends a body without an announced size.
        printf 'url = %s\n%s' "$(quote "$at")" "$with" | (
            ulimit -c 0 -f $((most / 1024 + 64))
            exec curl -q --config - --silent --globoff --proto "$protocols" --connect-timeout 20 \
                --speed-limit 1 --speed-time 60 --max-filesize "$most" --dump-header "$work/headers" --output "$output" \
                --user-agent icestream --write-out '%{stderr}%{http_code}\n%{redirect_url}\n%{errormsg}\n' "${@:2}"
        ) 2>"$work/answer" &
        child=$! # `wait` ends when a signal comes, and a program in front would not
        watcher=
        if [[ $action == fetch ]]; then
            end_early "$output" >/dev/null 2>&1 &
            watcher=$!
        fi
        wait "$child"
        code=$?
        child=
        [[ -z $watcher ]] || wait "$watcher"
        { read -r status && read -r to && read -r why; } <"$work/answer"
        [[ $code == 0 && $status == 30[12378] && -n $to ]] || break
        [[ $is_s3 == no ]] || end 77 "the server answered with a redirection, and a signature is for one URL"
        ((++hops <= 5)) || end 77 'found more than 5 redirections'
        [[ $to == https://* || ($to == http://* && $protocols != '=https') ]] ||
            end 77 "found a redirection to ${to%%:*}:, expected one ${protocols/#=/to }"
        allowed "$to" || end 77 "found a redirection to a URL that source.allow does not name"
        at=$to with=
    done
    # curl takes an answer that ends in its headers for a whole one without a body.
    if [[ $code == 0 && $(tail -n 1 "$work/headers") != $'\r' ]]; then
        code=18 why='the answer of the server ends in its headers, expected a whole one'
    fi
}

# check_answer: ends if curl has failed.
check_answer() {
    case $code in
    0) ;;
    63 | 153) end 77 "found a file that is larger than $most bytes" ;; # 153: the limit of the shell
    58 | 60 | 77) end 77 "$why" ;; # certificates
    23) # perhaps the disk is full, and others need what this file has of it
        [[ $action != fetch ]] || rm -f -- "$path.part" "$path.part.etag"
        end 75 "cannot write the file: ${why:-no cause}"
        ;;
    *) end 75 "${why:-curl ended with status $code}" ;;
    esac
}

# refuse OUTPUT WHAT: ends, because the answer is no success. Nothing of its body but the code of S3 is shown, because
# S3 answers a wrong signature with the text that was signed.
refuse() {
    local text
    text="cannot $2: the server answered HTTP $status$(sed -n 's/.*<Code>\([A-Za-z0-9]\{1,60\}\)<.*/, \1/p' "$1" | head -n 1)"
    # The whole bucket is missing, which is rather a fault of this machine's settings.
    [[ $text != *', NoSuchBucket' ]] || end 77 "$text"
    case $status in
    401) end 77 "$text (is a token or a key missing?)" ;;
    403) end 77 "$text (access is denied)" ;;
    404 | 410) end 66 "$text (there is no such file)" ;;
    408 | 409 | 423 | 425 | 429) end 75 "$text" ;;
    501 | 505) end 77 "$text" ;;
    503) end 75 "$text (the server is busy)" ;;
    5*) end 75 "$text" ;;
    *) end 77 "$text" ;;
    esac
}

wants=(--header 'Want-Repr-Digest: sha-256=10' --header 'Want-Digest: sha-256')
nothing=$(digest_of /dev/null)

# named_digest: prints the SHA-256 that the server names for the whole file.
named_digest() {
    if [[ $(header Repr-Digest) =~ (^|[ ,])sha-256=:([A-Za-z0-9+/]{43}=): ]] ||
        [[ $(header Digest) =~ (^|[ ,])[sS][hH][aA]-256=([A-Za-z0-9+/]{43}=) ]]; then
        base64 -d <<<"${BASH_REMATCH[2]}" | od -An -v -tx1 | tr -d ' \n'
    elif [[ $(header x-amz-meta-sha256) =~ ^[0-9a-f]{64}$ ]]; then
        echo "${BASH_REMATCH[0]}"
    fi
}

# ---- fetching

# What an attempt that broke off has fetched stays in PATH.part, with the server's mark of the version (ETag).
fetch() {
    local part=$path.part from=0 range=() tag digest known
    more=$path.more # on the file system of the step file
    if [[ -f $part && ! -L $part && -s $part.etag ]]; then
        from=$(stat -c %s -- "$part")
    fi
    [[ $from == 0 ]] || range=(--header "Range: bytes=$from-" --header "If-Range: $(<"$part.etag")")
    ask "$more" --header "x-amz-content-sha256: $nothing" "${wants[@]}" "${range[@]}"
    if [[ $code != 63 && $code != 153 ]] && is_other "$more"; then
        mv -f -- "$more" "$path" # icestream refuses it, and says what it found
        return
    fi
    case $status in
    200)
        tag=$(header ETag)
        mv -f -- "$more" "$part"
        printf '%s' "$tag" >"$part.etag"
        [[ $tag == \"* ]] || rm -f -- "$part.etag" # a weak mark names no version
        ;;
    206)
        [[ $(header Content-Range) == "bytes $from-"* ]] ||
            end 77 "the server answered with the range '$(header Content-Range)', expected 'bytes $from-...'"
        cat -- "$more" >>"$part" || end 75 "cannot write $part"
        ;;
    416)
        rm -f -- "$part" "$part.etag"
        end 75 'another version of the file is shorter; it is fetched from its beginning'
        ;;
    *)
        check_answer
        refuse "$more" fetch
        ;;
    esac
    check_answer
    (($(stat -c %s -- "$part") <= most)) || end 77 "found a file that is larger than $most bytes"
    digest=$(digest_of "$part") known=$(named_digest)
    rm -f -- "$part.etag"
    [[ -z $known || $digest == "$known" ]] || end 75 "fetched a file with the SHA-256 $digest, expected $known"
    mv -f -- "$part" "$path"
}

# ---- shipping

# is_there: whether the server has the bytes of the file: by the digest that it names, or by reading them back.
is_there() {
    local length known
    most=$bytes
    ask "$work/body" --head --header "x-amz-content-sha256: $nothing" "${wants[@]}"
    [[ $code == 63 ]] && return 1
    check_answer
    case $status in
    200)
        length=$(header Content-Length) known=$(named_digest)
        [[ -z $length || $length == "$bytes" ]] || return 1
        [[ -z $length || -z $known ]] || { [[ $known == "$digest" ]]; return; }
        ;;
    405 | 501) ;;
    *) refuse "$work/body" verify ;;
    esac
    ask "$work/body" --header "x-amz-content-sha256: $nothing"
    [[ $code == 63 || $code == 153 ]] && return 1
    check_answer
    [[ $status == 200 ]] || refuse "$work/body" verify
    cmp -s -- "$work/body" "$path"
}

ship() {
    local options=(--upload-file "$path" --header 'Content-Type: application/octet-stream') answered
    [[ ${ICESTREAM_FORCE:-} == 1 ]] || options+=(--header 'If-None-Match: *')
    [[ $is_s3 == no ]] || options+=(--header "x-amz-content-sha256: $digest" --header "x-amz-meta-sha256: $digest")
    ask "$work/body" "${options[@]}"
    check_answer
    answered=$status
    case $status in 200 | 201 | 204 | 412) ;; *) refuse "$work/body" ship ;; esac
    is_there && return
    [[ $answered != 412 ]] || end 73 'found a file with other bytes there, expected none or the same; --force replaces it'
    # These bytes are those of the request above, so nobody misses them.
    ask "$work/body" --request DELETE --header "x-amz-content-sha256: $nothing"
    end 75 'found other bytes there than were shipped'
}

# ----

for name in CURL_CA_BUNDLE SSL_CERT_FILE; do
    [[ -z ${!name:-} ]] || check_file "${!name}" "$name"
done
url=${ICESTREAM_URL%%#*} secrets='' is_s3=no
case $url in
http://* | https://*) add_token ;;
s3://*) open_s3 ;;
*) end 78 'expected a URL that begins with http:, https: or s3:' ;;
esac
case $action in
fetch)
    allowed "$ICESTREAM_URL" || end 77 'found a URL that source.allow does not name'
    fetch
    ;;
*)
    [[ -f $path ]] || end 66 "$path: expected a file"
    digest=$(digest_of "$path") bytes=$(stat -c %s -- "$path")
    if [[ $action == ship ]]; then
        ship
    else
        is_there || end 75 "found other bytes there than those of $path"
    fi
    ;;
esac
