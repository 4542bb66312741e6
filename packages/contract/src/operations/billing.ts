import { operation } from '../operation.ts'
import { billingPortal, changeTierBody, organizationSubscription } from '../tier.ts'
import { usage } from '../usage.ts'

export const billingOperations = {
  getUsage: operation('GET', '/api/v1/organizations/:org/usage', {
    right: 'usage.read',
    summary: 'Get the usage of an organization',
    answer: { status: 200, body: usage },
  }),

  getTier: operation('GET', '/api/v1/organizations/:org/subscription', {
    right: 'billing.read',
    summary: 'Get the tier of an organization, its limits and its billing',
    answer: { status: 200, body: organizationSubscription },
  }),

  changeTier: operation('PUT', '/api/v1/organizations/:org/subscription', {
    right: 'billing.change',
    summary: 'Choose the tier of an organization',
    body: changeTierBody,
    answer: { status: 200, body: organizationSubscription },
    refusals: ['conflict', 'unavailable'],
  }),

  openPortal: operation('POST', '/api/v1/organizations/:org/subscription/portal', {
    right: 'billing.change',
    summary: "Open the payment provider's page for payment methods, invoices and cancellation",
    answer: { status: 200, body: billingPortal },
    refusals: ['conflict', 'unavailable'],
  }),
}
