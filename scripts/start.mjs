// `npm start`: runs Belfry and everything it needs on a machine with only Node.
import { bootstrap } from './bootstrap.mjs'

bootstrap()
const { bundleAll } = await import('./bundle.mjs')
await bundleAll()
// In this process, so signals reach the launcher, and its end is the end of `npm start`.
await import('../programs/launcher/dist/main.mjs')
