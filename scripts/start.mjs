// `npm start`: everything that Belfry needs, on a machine with nothing but Node.
import { bootstrap } from './bootstrap.mjs'

bootstrap()
const { bundleAll } = await import('./bundle.mjs')
await bundleAll()
// In this process, so that a signal has one address, and the launcher's end is the end.
await import('../packages/launcher/dist/main.mjs')
