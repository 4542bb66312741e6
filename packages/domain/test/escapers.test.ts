import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../src/index.ts'

// What the escapers of other languages make of values, as a target's error page may show them.

const values = [
  ...fc.sample(fc.string({ minLength: 6, maxLength: 40 }), { numRuns: 60, seed: 7 }),
  ...fc.sample(fc.string({ minLength: 6, maxLength: 30, unit: 'grapheme' }), { numRuns: 40, seed: 8 }),
  "sk/live+Ab'C12345==",
  'a b+c/d=e&f?g#h%25\\"<\'$`!',
].filter(value => value.trim().length >= 4 && !value.includes('\0'))

const python = `
import ast, base64, html, json, quopri, shlex, sys, urllib.parse
for value in json.load(sys.stdin):
    data = value.encode()
    print(json.dumps([html.escape(value), urllib.parse.quote(value), urllib.parse.quote_plus(value), json.dumps(value)[1:-1],
        repr(value)[1:-1], ascii(value)[1:-1], repr(data)[2:-1], shlex.quote(value), quopri.encodestring(data).decode(),
        base64.encodebytes(data * 2).decode()]))`

const go = `
package main

import ("encoding/json"; "fmt"; "html/template"; "net/url"; "os"; "strconv")

func main() {
  var values []string
  json.NewDecoder(os.Stdin).Decode(&values)
  for _, value := range values {
    text, _ := json.Marshal(value)
    quoted := strconv.Quote(value)
    all, _ := json.Marshal([]string{template.HTMLEscapeString(value), template.JSEscapeString(value), url.QueryEscape(value),
      url.PathEscape(value), quoted[1:len(quoted)-1], strconv.QuoteToASCII(value), string(text)})
    fmt.Println(string(all))
  }
}`

const bash = `while IFS= read -r -d '' value; do printf '%q\\0' "$value"; done`

function has(program: string, argument: string): boolean {
  return spawnSync(program, [argument]).status === 0
}

function expectHidden(value: string, escaped: readonly string[]): void {
  const redactor = createRedactor([{ name: 'S', value }])
  for (const text of escaped) {
    expect(redactor.text(`before ${text} after`), `${JSON.stringify(value)} as ${text}`).toContain('{{ secrets.S }}')
  }
}

describe('values are redacted as they are escaped', () => {
  it.skipIf(!has('python3', '--version'))('by Python', () => {
    const output = execFileSync('python3', ['-c', python], { input: JSON.stringify(values), encoding: 'utf8' })
    const lines = output.trimEnd().split('\n')
    expect(lines).toHaveLength(values.length)
    for (const [i, value] of values.entries()) expectHidden(value, JSON.parse(lines[i] ?? '[]'))
  })

  it.skipIf(!has('go', 'version'))('by Go', () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-escapers-'))
    try {
      writeFileSync(join(folder, 'main.go'), go)
      const options = { input: JSON.stringify(values), encoding: 'utf8', cwd: folder } as const
      const lines = execFileSync('go', ['run', 'main.go'], options).trimEnd().split('\n')
      expect(lines).toHaveLength(values.length)
      for (const [i, value] of values.entries()) expectHidden(value, JSON.parse(lines[i] ?? '[]'))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it.skipIf(!has('bash', '--version'))('by bash', () => {
    const input = values.map(value => `${value}\0`).join('')
    const quoted = execFileSync('bash', ['-c', bash], { input, encoding: 'utf8', env: { LC_ALL: 'C.UTF-8' } }).split(
      '\0',
    )
    for (const [i, value] of values.entries()) expectHidden(value, [quoted[i] ?? ''])
  })
})
