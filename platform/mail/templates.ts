// The text and HTML of the mails.

export type MailName = 'sign_in' | 'invitation' | 'offer' | 'action'

interface Template {
  readonly subject: string
  readonly text: string
  readonly html: string
}

const signIn: Template = {
  subject: 'Sign in to svc',
  text: `Sign in to svc with this link. It works once, for 15 minutes:

{{link}}

If you did not request it, ignore this mail.`,
  html: `<p>Sign in to svc with this link. It works once, for 15 minutes:</p>
<p><a href="{{link}}">{{link}}</a></p>
<p>If you did not request it, ignore this mail.</p>`,
}

const invitation: Template = {
  subject: 'svc: you are invited to {{purpose}}',
  text: `{{made_by}} invites you to {{purpose}}: "{{workspace}}".

Open this link and press the button to sign in and accept. The link works once, for this address, for seven days:

{{link}}

If you did not expect this invitation, ignore this mail.`,
  html: `<p>{{made_by}} invites you to {{purpose}}: “{{workspace}}”.</p>
<p>Open this link and press the button to sign in and accept. The link works once, for this address, for seven days:</p>
<p><a href="{{link}}">{{link}}</a></p>
<p>If you did not expect this invitation, ignore this mail.</p>`,
}

const offer: Template = {
  subject: 'svc: you are invited to {{purpose}}',
  text: `{{made_by}} invites you to {{purpose}}: "{{workspace}}".

Sign in with this address to accept or decline the offer:

{{link}}/sign-in

In a terminal: npx --no-install svc login --url {{link}}, then npx --no-install svc workspace accept.`,
  html: `<p>{{made_by}} invites you to {{purpose}}: “{{workspace}}”.</p>
<p>Sign in with this address to accept or decline the offer: <a href="{{link}}/sign-in">{{link}}/sign-in</a></p>
<p>In a terminal: <code>npx --no-install svc login --url {{link}}</code>, then <code>npx --no-install svc workspace accept</code>.</p>`,
}

/** The answer of an action to an incident. */
const action: Template = {
  subject: 'svc: {{title}}',
  text: `{{title}}

{{#each lines}}
{{this}}
{{/each}}
{{#if link}}

{{link}}
{{/if}}

The action "{{action}}" sent this mail.`,
  html: `<p><b>{{title}}</b></p>
<ul>{{#each lines}}<li>{{this}}</li>{{/each}}</ul>
{{#if link}}<p><a href="{{link}}">{{link}}</a></p>{{/if}}
<p>The action “{{action}}” sent this mail.</p>`,
}

export const templates: Readonly<Record<MailName, Template>> = {
  sign_in: signIn,
  invitation,
  offer,
  action,
}
