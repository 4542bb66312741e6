// Publishes events at a steady rate, without waiting for earlier answers, and reports when it sent each.
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { numberMark, startAsChild } from '../lab/child-side.ts'

export type SteadyLoadOptions = {
  url: string
  headers: Record<string, string>
  /** Every `numberMark` in it is replaced by the number of the event. */
  body: string
}

/** How many events to send, numbered from 0. */
export type SteadyLoadOrder = { perSecond: number; count: number }

/** When each event was sent, in epoch milliseconds, by its number. All have been answered with 202. */
export type SteadyLoadReport = { sentAt: number[] }

const connections = 50

const { url, headers, body } = startAsChild<SteadyLoadOptions>()
const dispatcher = new Agent({ connections, pipelining: 1, keepAliveTimeout: 60_000 })
const sentAt: number[] = []

process.on('message', async (order: SteadyLoadOrder) => {
  try {
    process.send?.({ sentAt: await sendAll(order) } satisfies SteadyLoadReport)
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
})
process.send?.('ready')

// Each event has a random time within its slot: at fixed intervals, all would meet a poller in the same phase.
async function sendAll({ perSecond, count }: SteadyLoadOrder): Promise<number[]> {
  const began = performance.now()
  const answers: Array<Promise<void>> = []
  for (let i = 0; i < count; i++) {
    const waitMs = began + ((i + Math.random()) * 1000) / perSecond - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    answers.push(send(i))
  }
  await Promise.all(answers)
  return sentAt.slice(0, count)
}

async function send(number: number): Promise<void> {
  sentAt[number] = performance.timeOrigin + performance.now()
  const text = body.replaceAll(numberMark, String(number))
  const answer = await request(url, { method: 'POST', headers, body: text, dispatcher })
  const answered = await answer.body.text()
  if (answer.statusCode !== 202) throw new Error(`An event was answered with ${answer.statusCode}: ${answered}`)
}
