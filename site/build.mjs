// Builds the site into `dist/`: this checkout, or with `--releases` the newest release at the root, and each other release
// and this checkout in a folder of their own.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const own = dirname(fileURLToPath(import.meta.url))
const root = resolve(own, '..')
const { SITE_BASE: base = '/', REPOSITORY_URL = '' } = process.env
const windows = process.platform === 'win32'

const releases = process.argv.includes('--releases') ? findReleases() : []
const [newest, ...older] = releases
const versions = [
  ...(newest ? [{ label: newest, ref: newest, path: base }] : []),
  { label: newest ? 'main' : 'this version', ref: null, path: newest ? `${base}main/` : base },
  ...older.map(tag => ({ label: tag, ref: tag, path: `${base}${tag}/` })),
]

rmSync(join(own, 'dist'), { recursive: true, force: true })
// The other versions are in folders of the root.
for (const version of versions) build(version)

// Releases before the site was there have none.
function findReleases() {
  const tags = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n').filter(Boolean)
  return tags.filter(tag => git('ls-tree', '--name-only', tag, 'site/package.json') !== '')
}

function build({ label, ref, path }) {
  const checkout = ref === null ? root : mkdtempSync(join(tmpdir(), 'belfry-site-'))
  if (ref !== null) git('worktree', 'add', '--detach', '--force', checkout, ref)
  const site = join(checkout, 'site')
  const env = {
    ...process.env,
    SITE_BASE: path,
    SITE_LABEL: label === 'this version' ? undefined : label,
    SITE_VERSIONS: JSON.stringify(versions),
    ...(REPOSITORY_URL && { SOURCE_URL: `${REPOSITORY_URL}/blob/${ref ?? 'main'}` }),
  }
  const run = (program, ...args) => execFileSync(program, args, { cwd: site, env, stdio: 'inherit', shell: windows })
  if (!existsSync(join(site, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund')
  // Some pages follow from code.
  run('node', '../scripts/bootstrap.mjs')
  run('node', 'collect-pages.mjs')
  const output = mkdtempSync(join(tmpdir(), 'belfry-site-output-'))
  run('npx', 'vitepress', 'build', '--outDir', output)
  cpSync(output, join(own, 'dist', path.slice(base.length)), { recursive: true })
  rmSync(output, { recursive: true })
  if (ref !== null) git('worktree', 'remove', '--force', checkout)
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
