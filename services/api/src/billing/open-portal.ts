import { billingPortal } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'

export const openPortal = endpoint({
  right: 'billing.change',
  summary: "Open the payment provider's page for payment methods, invoices and cancellation",
  answer: { status: 200, body: billingPortal },
  refusals: ['conflict', 'unavailable'],
  params: { org: 'org' },
  async handle(ctx, { caller: { organizationId } }) {
    const { slug } = await ctx.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const returnUrl = `${ctx.config.publicUrl}/${slug}/settings/usage`
    return ok({ url: await ctx.billing.openPortal(ctx, organizationId, returnUrl) })
  },
})
