import { type Mail, type Unsubscribe, writeMail } from './mail.ts'

/** Returns an invitation to an organization. Both names may be a stranger's, so the mail quotes them without links. */
export function invitationMail(to: string, invitation: { organization: string; inviter: string; url: string }): Mail {
  return writeMail(to, {
    subject: `Join ${unlinked(invitation.organization)} on Belfry`,
    paragraphs: [
      `"${unlinked(invitation.inviter)}" invites you to the organization "${unlinked(invitation.organization)}" on Belfry.`,
      'The link works once and expires in seven days.',
    ],
    action: { label: 'Join', url: invitation.url },
    footer:
      'You received this mail because a member of the organization entered your address. If you do not know them, ignore it.',
  })
}

export function passwordResetMail(to: string, url: string): Mail {
  return writeMail(to, {
    subject: 'Choose a new password for Belfry',
    paragraphs: [
      'We received a request to reset the password of the account with this address.',
      'The link works once and expires in one hour.',
    ],
    action: { label: 'Choose a new password', url },
    footer: 'If you did not request this, ignore this mail. Your password has not changed.',
  })
}

export function confirmEmailMail(to: string, url: string): Mail {
  return writeMail(to, {
    subject: 'Confirm your email address for Belfry',
    paragraphs: [
      'An account was created with this address.',
      'Open the link in the browser in which you created it. In another one, you choose a new password afterwards.',
      'The link expires in 24 hours.',
    ],
    action: { label: 'Confirm email address', url },
    footer: 'If you did not create the account, ignore this mail.',
  })
}

type SignIn = { device: string; address: string; at: Date }

/** Returns the mail about a sign-in from a device that the user has not used before. */
export function newDeviceMail(to: string, url: string, { device, address, at }: SignIn): Mail {
  return writeMail(to, {
    subject: 'New sign-in to Belfry',
    paragraphs: [
      'Your account was used to sign in from a new device.',
      `Device: ${unlinked(device)}. IP address: ${address}. Time: ${minuteOf(at)}.`,
      'If this was not you, end the session on your profile page and change your password.',
    ],
    action: { label: 'Review sessions', url },
    footer: 'If this was you, ignore this mail.',
  })
}

export function passwordChangedMail(to: string, url: string, { address, at }: Pick<SignIn, 'address' | 'at'>): Mail {
  return writeMail(to, {
    subject: 'Your Belfry password was changed',
    paragraphs: [
      'The password of your account was changed, and its other sessions have ended.',
      `IP address: ${address}. Time: ${minuteOf(at)}.`,
      'If this was not you, choose a new password now.',
    ],
    action: { label: 'Choose a new password', url },
    footer: 'If this was you, ignore this mail.',
  })
}

type FactorChange = { what: string; address: string | null; at: Date }

/** Returns the mail about a new, removed or used second factor. `what` is a sentence. */
export function factorChangeMail(to: string, url: string, { what, address, at }: FactorChange): Mail {
  return writeMail(to, {
    subject: 'Your Belfry sign-in was changed',
    paragraphs: [
      unlinked(what),
      `${address === null ? '' : `IP address: ${address}. `}Time: ${minuteOf(at)}.`,
      'If this was not you, end all other sessions on your profile page and change your password.',
    ],
    action: { label: 'Review your profile', url },
    footer: 'If this was you, ignore this mail.',
  })
}

export function accountDeletedMail(to: string, at: Date): Mail {
  return writeMail(to, {
    subject: 'Your Belfry account was deleted',
    paragraphs: [
      `The account with this address was deleted on ${minuteOf(at)}, and its sessions have ended.`,
      'API keys and tasks that you created belong to their workspaces and stay.',
    ],
    footer: 'If this was not you, contact an owner of your organization.',
  })
}

function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Returns a mail that asks a recipient outside of an organization. It never quotes text that a user wrote. */
export function alertConsentMail(to: string, url: string, unsubscribe: Unsubscribe): Mail {
  return writeMail(to, {
    subject: 'Receive alerts from Belfry?',
    paragraphs: [
      'A user of this Belfry installation wants to send alerts about failed webhooks to this address.',
      'You receive none unless you agree.',
    ],
    action: { label: 'Receive alerts', url },
    footer: 'If you do not expect this, ignore this mail.',
    unsubscribe,
  })
}

// Mail programs make a link of every text that looks like an address. Format characters could reverse the order of the letters.
function unlinked(text: string): string {
  const plain = text.replace(/[\s\p{C}]+/gu, ' ').replace(/"/g, "'")
  return plain
    .replace(/[.:/\\@]+(?=\S)/g, ' ')
    .trim()
    .slice(0, maxTextLength)
}

const maxTextLength = 200
