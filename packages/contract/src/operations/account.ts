import { accountExport } from '../account-export.ts'
import { accountEntry } from '../audit-entry.ts'
import {
  confirmEmailBody,
  deleteMeBody,
  forgotPasswordBody,
  me,
  registerBody,
  registrationRules,
  resetPasswordBody,
  signedIn,
  updateMeBody,
} from '../auth.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'

export const accountOperations = {
  getRegistration: operation('GET', '/api/v1/auth/register', {
    right: 'public',
    summary: 'Read who may create an account',
    answer: { status: 200, body: registrationRules },
  }),

  register: operation('POST', '/api/v1/auth/register', {
    right: 'public',
    summary: 'Create an account',
    body: registerBody,
    answer: { status: 201, body: signedIn, setsCookie: true },
    refusals: ['email_taken', 'registration_closed', 'rate_limited', 'password_login_off', 'unavailable'],
  }),

  forgotPassword: operation('POST', '/api/v1/auth/password/forgot', {
    right: 'public',
    summary: 'Send a link for choosing a new password, if the address has an account',
    body: forgotPasswordBody,
    answer: { status: 202 },
    refusals: ['rate_limited', 'password_login_off'],
  }),

  resetPassword: operation('POST', '/api/v1/auth/password/reset', {
    right: 'public',
    summary: 'Choose a new password with the token of a link; all sessions of the user end',
    body: resetPasswordBody,
    answer: { status: 204 },
    refusals: ['rate_limited', 'password_login_off'],
  }),

  confirmEmail: operation('POST', '/api/v1/auth/email/confirm', {
    right: 'public',
    summary: 'Confirm the email address of an account with the token of a link',
    body: confirmEmailBody,
    answer: { status: 204 },
    refusals: ['rate_limited'],
  }),

  resendConfirmation: operation('POST', '/api/v1/auth/email/resend', {
    right: 'signed_in',
    summary: 'Send another link that confirms the email address, unless it is confirmed',
    answer: { status: 202 },
  }),

  listAccountLog: operation('GET', '/api/v1/auth/log', {
    right: 'signed_in',
    summary: 'List the sign-ins of the user and the changes of the password, newest first',
    query: listQuery,
    answer: { status: 200, body: pageOf(accountEntry) },
  }),

  getMe: operation('GET', '/api/v1/auth/me', {
    right: 'signed_in',
    summary: 'Read the signed-in user and their organizations',
    answer: { status: 200, body: me },
  }),

  updateMe: operation('PATCH', '/api/v1/auth/me', {
    right: 'signed_in',
    summary: 'Change the name or the password of the user; a password ends all other sessions',
    body: updateMeBody,
    answer: { status: 200, body: me },
  }),

  exportMe: operation('GET', '/api/v1/auth/me/export', {
    right: 'signed_in',
    summary: 'Export all data about the user',
    answer: { status: 200, body: accountExport },
  }),

  deleteMe: operation('POST', '/api/v1/auth/me/delete', {
    right: 'signed_in',
    summary: 'Delete the account of the user, who must not be the last owner of an organization',
    body: deleteMeBody,
    answer: { status: 204, setsCookie: true },
    refusals: ['last_owner', 'step_up_required', 'rate_limited', 'password_login_off'],
  }),
}
