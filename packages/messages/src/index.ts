export {
  accountDeletedMail,
  alertConsentMail,
  confirmEmailMail,
  factorChangeMail,
  invitationMail,
  newDeviceMail,
  passwordChangedMail,
  passwordResetMail,
} from './account-mails.ts'
export type { Alert } from './alert.ts'
export { alertMail, discordBody, slackBody, webhookBody } from './alert-bodies.ts'
export { failingMail } from './failing-mail.ts'
export { type Mail, type Unsubscribe, unsubscribeAt, writeMail } from './mail.ts'
export type { Message } from './message.ts'
export {
  paymentFailedMail,
  type TierFacts,
  tierMail,
  usageMail,
} from './owner-mails.ts'
export { type QuotaCrossing, quotaMail } from './quota-mail.ts'
