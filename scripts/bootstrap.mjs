// Prepares a checkout: installs packages and generates code. Requires only Node and npm.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isProgram } from './is-program.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const stamps = join(root, 'node_modules/.belfry')
const python = 'clients/python/src/belfry_client'

/**
 * Runs the steps that are missing or out of date. `forStart`: without the packages of tests and checks, which are as large as the
 * others, unless they were installed before.
 */
export function bootstrap({ forStart = false } = {}) {
  requireNode()
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const isPart = forStart && !existsSync(join(stamps, 'install'))
  step(isPart ? 'install-for-start' : 'install', 'Installing packages (some 20 seconds the first time)', {
    inputs: ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()],
    result: 'node_modules/.modules.yaml',
    command: [
      ...['npx', '--yes', packageManager, 'install', '--frozen-lockfile', '--prefer-offline'],
      ...(isPart ? ['--prod'] : []),
    ],
    advice: `If a package.json was changed, bring the lockfile up to date: npx ${packageManager} install`,
  })
  step('generate', 'Generating the database client', {
    inputs: ['prisma/schema.prisma', 'prisma/prisma.config.ts', 'pnpm-lock.yaml', 'scripts/prisma-generate.mjs'],
    result: 'prisma/src/generated/client.ts',
    command: [process.execPath, join(root, 'scripts/prisma-generate.mjs')],
  })
  step('generate-clients', 'Generating the clients of the API', {
    inputs: [
      ...[
        'pnpm-lock.yaml',
        'scripts/generate-clients.mjs',
        'scripts/import-typescript.mjs',
        `${python}/_async_http.py`,
      ],
      ...['packages/domain/src', 'packages/contract/src', 'packages/client/generate'].flatMap(filesBelow),
    ],
    result: [
      'packages/client/src/generated/resources.ts',
      'programs/cli/src/generated/fields.ts',
      `${python}/models.py`,
      'clients/terraform/internal/provider/generated/objects.json',
    ],
    command: [process.execPath, join(root, 'scripts/generate-clients.mjs')],
  })
}

function filesBelow(folder) {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  return files.filter(file => file.isFile()).map(({ parentPath, name }) => relative(root, join(parentPath, name)))
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(
    `Belfry needs Node 20.19 or newer; this is Node ${process.versions.node}. Get one from https://nodejs.org.`,
  )
  process.exit(1)
}

function manifests() {
  const folders = ['packages', 'services', 'programs'].flatMap(parent =>
    readdirSync(join(root, parent)).map(name => `${parent}/${name}`),
  )
  return ['.', 'prisma', 'e2e', 'bench', 'examples', ...folders]
    .map(folder => join(folder, 'package.json'))
    .filter(path => existsSync(join(root, path)))
}

// The stamps are in node_modules, so all steps run again after it was removed.
function step(name, title, { inputs, result, command, advice }) {
  const stamp = join(stamps, name)
  const wanted = hash(inputs)
  const isThere = [result].flat().every(file => existsSync(join(root, file)))
  if (isThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log(`${title} ...`)
  const [program, ...args] = command
  // With CI, pnpm asks no questions. NODE_ENV=production would omit the dependencies of the build.
  const env = { ...process.env, CI: 'true', NODE_ENV: 'development' }
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    // npx is a script there. A shell would split the path of Node at its spaces.
    shell: process.platform === 'win32' && program === 'npx',
  })
  if (status !== 0) {
    console.error([stdout, stderr, error?.message, `${title} failed.`, advice].filter(Boolean).join('\n'))
    process.exit(1)
  }
  mkdirSync(stamps, { recursive: true })
  writeFileSync(stamp, wanted)
}

// Includes the platform, because a machine and its containers may share a checkout.
function hash(inputs) {
  const sum = createHash('sha256').update(`${process.platform} ${process.arch}`)
  for (const input of inputs) sum.update(input).update(readFileSync(join(root, input)))
  return sum.digest('hex')
}

if (isProgram(import.meta.url)) bootstrap()
