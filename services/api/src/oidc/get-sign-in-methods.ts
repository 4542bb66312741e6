import { signInMethods } from '@belfry/contract/sign-in'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'

export const getSignInMethods = endpoint({
  right: 'public',
  summary: 'Read how users sign in',
  answer: { status: 200, body: signInMethods },
  async handle({ config, oidc }) {
    return ok({
      password: config.passwordLogin,
      oidc: oidc && { name: oidc.settings.name, available: oidc.problem() === null },
    })
  },
})
