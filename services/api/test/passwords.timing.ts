import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../src/account/password.ts'
import { aPerson, password } from './organization.ts'
import { type Answer, useApi } from './setup.ts'

const api = useApi()

let addresses = 0
const login = (email: string, given = password) => {
  const address = `192.0.${Math.floor(++addresses / 250)}.${addresses % 250}`
  return api.send('POST', '/api/v1/auth/login', { email, password: given }, { 'X-Forwarded-For': address })
}

/** Makes a user whose password hash has the full cost. */
async function aUser(): Promise<string> {
  const { email } = await aPerson(api)
  await api.ctx.prisma.user.update({ where: { email }, data: { passwordHash: await hashPassword(password, '') } })
  return email
}

it('fifty concurrent logins leave the event loop free', { timeout: 180_000 }, async () => {
  const emails = await Promise.all(Array.from({ length: 5 }, () => aUser()))
  const maxDelay = async (call: (i: number) => Promise<Answer>) => {
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => call(i)))
    delay.disable()
    expect(answers.every(({ status }) => [200, 401].includes(status))).toBe(true)
    return delay.max / 1e6
  }
  // Other load on the machine delays a process. The delay of requests without a password measures that. Hashing on the
  // event loop would exceed both figures each time.
  let [without, withLogins] = [0, Number.POSITIVE_INFINITY]
  for (let i = 0; i < 5 && withLogins > Math.max(200, 2 * without); i++) {
    without = await maxDelay(() => api.send('GET', '/api/v1/auth/me'))
    await api.db.query('DELETE FROM throttles') // right passwords of one account have a limit
    withLogins = await maxDelay(i => login(i % 10 ? String(emails[i % 5]) : `${i}@example.com`, password))
  }
  expect(withLogins).toBeLessThan(Math.max(200, 2 * without))
})

describe('of 100 wrong logins', () => {
  // Wall-clock time includes other load on the machine; CPU time is only this work.
  it('those with an account and those without take the same work, within a tenth', async () => {
    const known = await Promise.all(Array.from({ length: 10 }, () => aUser()))
    const workOf = async (email: string) => {
      const before = process.cpuUsage()
      expect((await login(email, 'a wrong password')).status).toBe(401)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const [withAccount, without]: [number[], number[]] = [[], []]
    for (let i = 0; i < 50; i++) {
      withAccount.push(await workOf(known[i % known.length] ?? ''))
      without.push(await workOf(`${crypto.randomUUID()}@example.com`))
    }
    const median = (all: number[]) => all.sort((a, b) => a - b)[25] ?? 0
    const ratio = median(without) / median(withAccount)
    expect(ratio).toBeGreaterThan(0.9)
    expect(ratio).toBeLessThan(1.1)
  }, 120_000)
})
