import { schedule, type Wish } from './schedule.ts'

const byWorker = (wish: Wish) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.postMessage(wish)
  })

Object.assign(globalThis, { schedule, byWorker })
