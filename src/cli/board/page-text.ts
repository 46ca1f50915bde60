import { createHash } from 'node:crypto'

import { script, style } from './page-bundle.ts'

const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5d6b"/>' +
      '<path d="M10 15v-4a6 6 0 0 1 12 0v4" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>' +
      '<path d="M7 15h18v5a9 7 0 0 1-18 0z" fill="#fff"/>' +
      '<path d="M16 18v4" stroke="#0b5d6b" stroke-width="3" stroke-linecap="round"/></svg>',
  )

/** The whole page. It is the same for everybody: what it shows comes after it, and never stands in its markup. */
export const pageText: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Holdfast board</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<noscript>The board is drawn by a script of this page: allow it for this address.</noscript>
<script>${script}</script>
</body>
</html>
`

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Nothing is loaded but this page itself, nobody may frame it, and no text can become markup. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}
