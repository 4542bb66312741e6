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
export { type Mail, type Unsubscribe, unsubscribeAt, writeMail } from './mail.ts'
export type { Message } from './message.ts'
export {
  failingMail,
  paymentFailedMail,
  type QuotaCrossing,
  quotaMail,
  type TierFacts,
  tierMail,
  usageMail,
} from './owner-mails.ts'
