// What mails say, as text and as HTML.

export type MailName = 'sign_in' | 'invitation' | 'offer'

interface Template {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const signIn: Template = {
  subject: 'Sign in to svc',
  text: `Sign in to svc with this link. It works once, within 15 minutes:

{{link}}

If you did not ask for it, nothing happens unless you open it.`,
  html: `<p>Sign in to svc with this link. It works once, within 15 minutes:</p>
<p><a href="{{link}}">{{link}}</a></p>
<p>If you did not ask for it, nothing happens unless you open it.</p>`,
}

const invitation: Template = {
  subject: 'svc: you are invited to {{what}}',
  text: `{{made_by}} invites you to {{what}}: "{{workspace}}".

Open this link, and press its button to sign in and accept. It works once, within seven days, for this address:

{{link}}

If you do not expect this, do nothing.`,
  html: `<p>{{made_by}} invites you to {{what}}: “{{workspace}}”.</p>
<p>Open this link, and press its button to sign in and accept. It works once, within seven days, for this address:</p>
<p><a href="{{link}}">{{link}}</a></p>
<p>If you do not expect this, do nothing.</p>`,
}

const offer: Template = {
  subject: 'svc: you are invited to {{what}}',
  text: `{{made_by}} invites you to {{what}}: "{{workspace}}".

Sign in with this address to accept or decline:

{{link}}/sign-in

In a terminal: svc login --url {{link}}, then svc workspace accept.`,
  html: `<p>{{made_by}} invites you to {{what}}: “{{workspace}}”.</p>
<p>Sign in with this address to accept or decline: <a href="{{link}}/sign-in">{{link}}/sign-in</a></p>
<p>In a terminal: <code>svc login --url {{link}}</code>, then <code>svc workspace accept</code>.</p>`,
}

export const templates: Readonly<Record<MailName, Template>> = { sign_in: signIn, invitation, offer }
