// Fails when two folders of a service import each other, also by type, or when services/api/src/http imports another folder:
// what it knows about HTTP has nothing to do with resources and callers. Also fails when a plugin of the linter includes nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
// A plugin of the linter that names files which have moved would check nothing.
for (const { includes } of JSON.parse(readFileSync(resolve(repository, 'biome.json'), 'utf8')).plugins) {
  for (const pattern of includes.filter(name => !name.startsWith('!**'))) {
    const [before = '', names = '', after = ''] = pattern.replace(/^!|\/\*\*$/g, '').split(/[{}]/)
    for (const path of names.split(',').map(name => `${before}${name}${after}`))
      if (!existsSync(resolve(repository, path)))
        problems.push(`biome.json: a plugin includes ${path}, which does not exist`)
  }
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
