import { registrationRules } from '@belfry/contract/auth'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { registrationNow } from './registration.ts'

export const getRegistration = endpoint({
  right: 'public',
  summary: 'Read who may create an account',
  answer: { status: 200, body: registrationRules },
  async handle({ config, prisma }) {
    const hasAccounts = (await prisma.user.findFirst({ select: { id: true } })) !== null
    return ok({
      registration: registrationNow(config.registration, hasAccounts),
      domains: config.registrationDomains,
    })
  },
})
