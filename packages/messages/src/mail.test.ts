import { expect, it } from 'vitest'
import { invitationMail, passwordResetMail } from './account-mails.ts'
import { unsubscribeAt, writeMail } from './mail.ts'
import { quotaMail } from './owner-mails.ts'

const url = 'https://belfry.example/invitations/abc?x=1&y=2'
const invitation = invitationMail('a@example.com', { organization: 'A & <B>', inviter: 'Eve\r\nBcc: x', url })

it('has the same content and link in text and HTML', () => {
  expect(invitation.text).toContain(url)
  expect(invitation.html).toContain('href="https://belfry.example/invitations/abc?x=1&amp;y=2"')
  expect(passwordResetMail('a@example.com', url).text).toContain(url)
})

it('shows user input as text, on one line', () => {
  expect(invitation.html).toContain('A &amp; &lt;B&gt;')
  expect(invitation.html).not.toContain('<B>')
  expect(invitation.text).toContain('"Eve Bcc: x" invites you')
  expect(invitation.subject).not.toMatch(/[\r\n]/)
})

it('quotes names of strangers without links', () => {
  const organization = 'Acme Inc. "free" at https://evil.example/x or eve@evil.example \u202egro'
  const { subject, text, html } = invitationMail('a@example.com', { organization, inviter: 'www.evil.example', url })
  for (const part of [subject, text, html]) expect(part).not.toMatch(/evil\.|@evil|:\/\/evil|\u202e|"free"/)
  expect(subject).toBe("Join Acme Inc. 'free' at https evil example x or eve evil example gro on Belfry")
})

it('sets text and background colours together', () => {
  const styles = [...invitation.html.matchAll(/class="paper" style="([^"]*)"/g)].map(([, style]) => style)
  expect(styles).toHaveLength(2)
  for (const style of styles) expect(style).toMatch(/background:#ffffff;color:#1d2433/)
  expect(invitation.html).toMatch(
    /prefers-color-scheme: dark\) \{\s*\.paper \{ background: #10141c !important; color: /,
  )
})

it('has no external resources', () => {
  expect(invitation.html).not.toMatch(/src=|@import|url\(|<link|<script/)
})

it('tells an owner the consequences of the limit', () => {
  const crossing = { organization: 'Acme', quota: 'executions', url } as const
  expect(quotaMail('a@example.com', { ...crossing, percent: 80 }).text).toContain('At 100 %')
  expect(quotaMail('a@example.com', { ...crossing, percent: 100 }).text).not.toContain('At 100 %')
  expect(quotaMail('a@example.com', { ...crossing, percent: 100, url: null }).html).not.toContain('href')
})

it('has a link and headers by which its recipient unsubscribes', () => {
  const unsubscribe = unsubscribeAt('https://belfry.test/', 'TOKEN')
  const content = { subject: 'S', paragraphs: ['P'], footer: 'F' }
  const mail = writeMail('a@example.com', { ...content, unsubscribe })
  expect(mail.text).toContain('Unsubscribe from all alerts: https://belfry.test/unsubscribe#TOKEN\n')
  expect(mail.html).toContain('href="https://belfry.test/unsubscribe#TOKEN"')
  expect(mail.headers).toEqual({
    'List-Unsubscribe': '<https://belfry.test/api/v1/integrations/unsubscribe?token=TOKEN>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
  expect(writeMail('a@example.com', content)).not.toHaveProperty('headers')
})
