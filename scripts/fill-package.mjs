// Fills `server` of programs/belfry with the programs of the repository, at the paths that they have there.
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyTree } from './assemble.mjs'
import { bundleAll } from './bundle.mjs'

const paths = [
  'programs/cli/dist',
  'programs/cli/outbox.sql',
  'programs/launcher/dist',
  'programs/maintenance/dist',
  'prisma/dist',
  'prisma/migrations',
  'prisma/sql',
  'prisma/schema.prisma',
  'programs/all-in-one/dist',
  'services/api/dist/bull-board',
  'services/api/dist/dashboard',
]
const root = fileURLToPath(new URL('..', import.meta.url))
const own = join(root, 'programs/belfry')

// The tests have bundled everything already, and other tests run these files.
if (!process.argv.includes('--bundled')) await bundleAll()
rmSync(join(own, 'server'), { recursive: true, force: true })
for (const path of paths) copyTree(join(root, path), join(own, 'server', path))
copyFileSync(join(root, 'LICENSE'), join(own, 'LICENSE'))
