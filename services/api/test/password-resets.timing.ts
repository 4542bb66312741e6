import { expect, it } from 'vitest'
import { aPerson } from './organization.ts'
import { useApi } from './setup.ts'

const api = useApi()

let addresses = 0
async function timeOf(email: string): Promise<number> {
  const headers = { 'X-Forwarded-For': `192.0.2.${++addresses}` }
  const began = performance.now()
  await api.send('POST', '/api/v1/auth/password/forgot', { email }, headers)
  return performance.now() - began
}

it('no caller learns from the response time whether an address has an account', async () => {
  const known = (await Promise.all(Array.from({ length: 4 }, () => aPerson(api)))).map(({ email }) => email)
  const [withAccount, without]: [number[], number[]] = [[], []]
  const ratio = () => median(withAccount) / median(without)
  // Alternating, because the machine has other load. Each address gets four mails at most.
  for (let i = 0; i < 16 && !(i >= 8 && Math.abs(1 - ratio()) < 0.1); i++) {
    withAccount.push(await timeOf(known[i % known.length] ?? ''))
    without.push(await timeOf(`${crypto.randomUUID()}@example.com`))
  }
  expect(ratio()).toBeGreaterThan(0.9)
  expect(ratio()).toBeLessThan(1.1)
})

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
