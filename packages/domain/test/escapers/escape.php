<?php
// Reads values as a JSON array, and prints for each one what PHP makes of it, by the name of the escaper.
foreach (json_decode(file_get_contents('php://stdin')) as $value) {
    echo json_encode([
        'htmlspecialchars' => htmlspecialchars($value),
        'htmlspecialchars, HTML 5' => htmlspecialchars($value, ENT_QUOTES | ENT_HTML5),
        'htmlspecialchars, twice' => htmlspecialchars(htmlspecialchars($value)),
        'htmlentities' => htmlentities($value),
        'htmlentities, HTML 5' => htmlentities($value, ENT_QUOTES | ENT_HTML5),
        'urlencode' => urlencode($value),
        'rawurlencode' => rawurlencode($value),
        'json_encode' => json_encode($value),
        'json_encode, as entities' => htmlspecialchars(json_encode($value)),
        'json_encode, in hex' => json_encode($value, JSON_HEX_TAG | JSON_HEX_AMP | JSON_HEX_APOS | JSON_HEX_QUOT),
        'addslashes' => addslashes($value),
        'addcslashes' => addcslashes($value, "\0..\37!..\57\177..\377"),
        'quotemeta' => quotemeta($value),
        'preg_quote' => preg_quote($value, '/'),
        'var_export' => var_export($value, true),
        'escapeshellarg' => escapeshellarg($value),
        'quoted_printable_encode' => quoted_printable_encode($value),
        'chunk_split of base64' => chunk_split(base64_encode($value), 20),
        'nl2br' => nl2br(htmlspecialchars($value)),
        'base64 of json_encode' => base64_encode(json_encode(['key' => $value])),
        'bin2hex' => bin2hex($value),
        'http_build_query' => http_build_query(['key' => $value]),
    ]), "\n";
}
