// `npm run dev`: what `npm start` runs, from the sources. A change to the services restarts them, a change to the dashboard
// shows at once on http://localhost:5173. `npm run dev -- --inspect` opens Node's debugger on the services.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { context } from 'esbuild'
import { createServer } from 'vite'
import { bootstrap } from './bootstrap.mjs'

bootstrap()
const { bundleAll, bundleOptions } = await import('./bundle.mjs')
const root = resolve(fileURLToPath(import.meta.url), '../..')
process.env.DATA_DIR ||= join(root, '.belfry')
await bundleAll()

const inspect = process.argv.slice(2).filter(argument => argument.startsWith('--inspect'))
// Only children read it from here on: the launcher, which is this process, has started already.
if (inspect.length > 0) process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, ...inspect].filter(Boolean).join(' ')

const options = bundleOptions('programs/all-in-one')
const services = await context({ ...options, sourcemap: true, plugins: [...options.plugins, restartAfterBuild()] })
await services.watch()
const api = `http://localhost:${process.env.PORT || 3000}`
const pages = await createServer({
  configFile: join(root, 'packages/dashboard/vite.config.ts'),
  root: join(root, 'packages/dashboard'),
  server: { proxy: { '/api': { target: api, headers: { origin: api } } } },
})
await pages.listen()
console.log(`The dashboard with hot reload: ${pages.resolvedUrls?.local[0]}`)

await import('../programs/launcher/dist/main.mjs')
await Promise.all([services.dispose(), pages.close()])

// The launcher starts a service again that has ended, and keeps its process id in run.json.
function restartAfterBuild() {
  let isFirst = true
  return {
    name: 'restart-after-build',
    setup: ({ onEnd }) =>
      onEnd(({ errors }) => {
        if (!isFirst && errors.length === 0) restart()
        isFirst = false
      }),
  }
}

function restart() {
  const { services } = JSON.parse(readFileSync(join(process.env.DATA_DIR, 'run.json'), 'utf8'))
  console.log('The sources have changed; restarting the services.')
  process.kill(services.belfry.pid, 'SIGTERM')
}
