import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const built = join(import.meta.dirname, '../../../services/api/dist/dashboard')
// Browsers ask for Brotli on a secure origin; a proxy without it may compress with gzip.
const maxBytes = { br: 140_000, gz: 163_000 }

// No screen needs these to show itself.
const lateParts =
  /^(open-menu|open-dialog|toasts|keyboard|command-palette|saved-filters|missing-secrets|factor-form|shell-menus|replay-runs|backfill-dialog|next-runs)-/
const assets = join(built, 'assets')
const scripts = readdirSync(assets).filter(name => name.endsWith('.js'))

/** Returns the names of scripts, and of all that they import. */
function withImports(names: Iterable<string>, found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const script = readFileSync(join(assets, name), 'utf8')
    const imports = script.matchAll(/(?:^|[;}\n])(?:import|export)[^;()]*?["']\.\/([\w.-]+\.js)["']/g)
    withImports(
      Array.from(imports, ([, name]) => name ?? ''),
      found,
    )
  }
  return found
}

/** The scripts that others import on demand. */
const screens = () => {
  const texts = scripts.map(name => readFileSync(join(assets, name), 'utf8'))
  return new Set(
    texts.flatMap(text => Array.from(text.matchAll(/import\(["'`]\.\/([\w.-]+\.js)/g), ([, name]) => name ?? '')),
  )
}

/** The scripts of every page, before that of its screen. */
const firstLoad = () => {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  return withImports(Array.from(page.matchAll(/(?:src|href)="\/assets\/([^"]+\.js)"/g), ([, name]) => name ?? ''))
}

it.each(['gz', 'br'] as const)('the first load of every screen is small, compressed as %s', encoding => {
  const first = firstLoad()
  expect(first.size).toBeGreaterThan(0)
  const sizeOf = (name: string) => statSync(join(assets, `${name}.${encoding}`)).size
  const late = [...screens()].filter(name => !first.has(name) && !lateParts.test(name))
  expect(late.length).toBeGreaterThan(40)
  const sizes = late.map(name => {
    const all = [...withImports([name], new Set(first))]
    return { name, bytes: all.reduce((sum, one) => sum + sizeOf(one), 0) }
  })
  expect(sizes.filter(({ bytes }) => bytes >= maxBytes[encoding])).toEqual([])
})

it('no script contains a schema of the contract', () => {
  for (const name of scripts) expect(readFileSync(join(assets, name), 'utf8')).not.toContain('strictObject')
})
