// Fails when two folders of a service import each other, also by type, or when services/api/src/http imports another folder:
// what it knows about HTTP has nothing to do with resources and callers.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
const problems = []
for (const service of ['api', 'dispatcher', 'scheduler']) {
  const root = resolve(repository, 'services', service, 'src')
  /** @type {Map<string, string>} An example of each import, by `from to`. */
  const arrows = new Map()
  for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    for (const [, path = ''] of readFileSync(resolve(root, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const target = relative(root, resolve(root, dirname(file), path))
      const [from = '', to = ''] = [file, target].map(each => (each.includes('/') ? each.split('/')[0] : ''))
      if (from !== to && from !== '' && to !== '') arrows.set(`${from} ${to}`, `${file} -> ${target}`)
    }
  }
  for (const [arrow, example] of arrows) {
    const [from, to] = arrow.split(' ')
    if (service === 'api' && from === 'http') problems.push(`services/${service}: http imports ${to}: ${example}`)
    if (from < to && arrows.has(`${to} ${from}`))
      problems.push(
        `services/${service}: ${from} and ${to} import each other: ${example}, ${arrows.get(`${to} ${from}`)}`,
      )
  }
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
