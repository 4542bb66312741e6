import { type Mail, writeMail } from './mail.ts'

/** An invitation to an organization. `inviter` is a name that a user chose, so it stands in quotes. */
export function invitationMail(to: string, invitation: { organization: string; inviter: string; url: string }): Mail {
  return writeMail(to, {
    subject: `Join ${oneLine(invitation.organization)} on Belfry`,
    paragraphs: [
      `"${oneLine(invitation.inviter)}" invites you to the organization "${oneLine(invitation.organization)}" on Belfry.`,
      'The link is good for seven days and for one use.',
    ],
    action: { label: 'Join', url: invitation.url },
    footer: 'You got this mail because somebody typed in your address. If you do not know them, ignore it.',
  })
}

/** A link with which somebody who forgot their password can choose another. */
export function passwordResetMail(to: string, url: string): Mail {
  return writeMail(to, {
    subject: 'Choose a new password for Belfry',
    paragraphs: [
      'Somebody, hopefully you, asked for a new password for this address.',
      'The link is good for one hour and for one use.',
    ],
    action: { label: 'Choose a new password', url },
    footer: 'If you did not ask for this, nothing has changed and you need not do anything.',
  })
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
