import { billingPortal } from '@belfry/contract/tier'
import { readBillingAccount } from '@belfry/db/billing/billing-accounts'
import { AppError } from '@belfry/domain/app-error'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { callingStripe } from './stripe/stripe-billing.ts'

export const openPortal = endpoint({
  right: 'billing.change',
  summary: "Open the payment provider's page for payment methods, invoices and cancellation",
  answer: { status: 200, body: billingPortal },
  refusals: ['conflict', 'unavailable'],
  params: { org: 'org' },
  async handle(ctx, { caller: { organizationId } }) {
    const { stripe } = ctx.stripe ?? {}
    if (!stripe) throw new AppError('conflict', 'This installation has no payment provider: choose a tier instead.')
    const { slug } = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const account = await readBillingAccount(ctx.pool, organizationId)
    const customer = account?.customerId
    if (!customer) throw new AppError('conflict', 'The organization has never had a subscription.')
    const portal = { customer, return_url: `${ctx.config.publicUrl}/${slug}/settings/usage` }
    const session = await callingStripe(ctx, () => stripe.billingPortal.sessions.create(portal))
    return ok({ url: session.url })
  },
})
