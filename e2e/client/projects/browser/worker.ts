import { schedule, type Wish } from './schedule.ts'

self.onmessage = async ({ data }: MessageEvent<Wish>) => self.postMessage(await schedule(data))
