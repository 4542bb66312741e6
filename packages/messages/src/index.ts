export { invitationMail, passwordResetMail } from './account-mails.ts'
export { type Alert, alertLines, alertTitle } from './alert.ts'
export { alertMail, discordBody, slackBody, webhookBody } from './alert-bodies.ts'
export { type Mail, writeMail } from './mail.ts'
export type { Message } from './message.ts'
export {
  type OwnerFacts,
  paymentFailedMail,
  type TierFacts,
  tierMail,
  type UsageFacts,
  usageMail,
} from './owner-mails.ts'
export { type QuotaCrossing, quotaMail } from './quota-mail.ts'
