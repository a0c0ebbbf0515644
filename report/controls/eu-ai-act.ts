// Articles 12, 14, 19, 26 and 50 of the EU AI Act.
import type { Framework } from './definition.js'
import { both, fromPolicies, supported } from './sentences.js'
import { answers, approvals, detection, enforcement, record, recording, retention } from './shown.js'

const unsent = 'Steps that an agent never sent are not in the log; the log cannot show that they are missing.'
const sender = 'What a step states is the statement of its sender; svc does not check that it is true.'
const classification =
  'Whether the system is a high-risk system is not assessed; the classification is that of the registration.'

export const euAiAct: Framework = {
  id: 'eu-ai-act',
  title: 'EU AI Act',
  source: 'Regulation (EU) 2024/1689',
  draft: false,
  controls: [
    {
      control_id: 'eu-ai-act-12.1',
      title: 'Article 12(1): automatic recording of events',
      asks: 'A high-risk system can record events automatically over its lifetime.',
      also: ['eu-ai-act-12'],
      gaps: [unsent, classification, 'The lifetime before the first recorded step is not covered.'],
      find: (data, policies) => supported(recording(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-12.2.a',
      title: 'Article 12(2)(a): events that show a risk or a substantial modification',
      asks: 'The log holds events that help to recognise a risk to health, safety or rights, or a substantial modification.',
      also: ['eu-ai-act-12.2'],
      gaps: [
        'Risks for which no policy exists are not recognised.',
        'Changes of the model or of the code of an agent are recorded only if its steps or its registration state them.',
      ],
      find: (data, policies) => supported(both(detection(data), fromPolicies(policies)), record(data)),
    },
    {
      control_id: 'eu-ai-act-12.2.b',
      title: 'Article 12(2)(b): events for monitoring after placing on the market',
      asks: 'The log holds events that help the provider to monitor the system after it was placed on the market.',
      also: ['eu-ai-act-12.2'],
      gaps: ['The monitoring plan and system of the provider (Article 72) are outside of the log.', sender],
      find: (data) => both(recording(data), detection(data)),
    },
    {
      control_id: 'eu-ai-act-12.2.c',
      title: 'Article 12(2)(c): events for monitoring the operation',
      asks: 'The log holds events that help the deployer to monitor the operation of the system.',
      also: ['eu-ai-act-12.2'],
      gaps: ['Whether a person looked at the events is shown for incidents only.', sender],
      find: (data) => supported(recording(data), enforcement(data)),
    },
    {
      control_id: 'eu-ai-act-12.3',
      title: 'Article 12(3): logs of remote biometric identification',
      asks: 'For remote biometric identification: period of each use, reference database, matching input, verifying persons.',
      gaps: ['svc has no fields for reference databases, matches or the two persons who verify a result.'],
    },
    {
      control_id: 'eu-ai-act-14',
      title: 'Article 14: human oversight',
      asks: 'Persons can oversee the system while it is in use, and can intervene.',
      gaps: [
        'Whether the persons understand the system, and automation bias, are not seen.',
        'The identity of an approver is the statement of the program that asked; svc does not verify it.',
        'Oversight by measures outside of recorded steps is not seen.',
      ],
      find: (data, policies) => both(approvals(data), answers(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-14.4.d',
      title: 'Article 14(4)(d): not to use a result, to override or reverse it',
      asks: 'A person can choose not to use a result of the system, or override or reverse it.',
      gaps: ['Reversals outside of recorded steps are not seen.', 'That a person read what was approved is not seen.'],
      find: (data, policies) => both(approvals(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-14.4.e',
      title: 'Article 14(4)(e): to stop the system',
      asks: 'A person can stop the system so that it halts in a safe state.',
      gaps: ['svc blocks steps; that the agent and the systems that it uses come to a safe state is not seen.'],
      find: (_, policies) => fromPolicies(policies),
    },
    {
      control_id: 'eu-ai-act-19.1',
      title: 'Article 19(1): logs kept by providers',
      asks: 'The provider keeps the logs that it controls for a suitable time, at least six months.',
      also: ['eu-ai-act-19'],
      gaps: [
        'The retention is the setting at the cut-off; earlier settings are in the audit trail.',
        'Other law, such as on data protection, can ask for another time. Copies outside of the platform are not seen.',
      ],
      find: (data, policies) => supported(retention(data), record(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-26.1',
      title: 'Article 26(1): use as the instructions say',
      asks: 'The deployer takes measures so that the system is used as its instructions say.',
      gaps: ['The instructions for use are outside of the log; policies show only what they check.'],
      find: (data, policies) => supported(fromPolicies(policies), enforcement(data)),
    },
    {
      control_id: 'eu-ai-act-26.2',
      title: 'Article 26(2): oversight assigned to persons',
      asks: 'The deployer assigns the oversight to persons with competence, training and authority.',
      gaps: ['Competence, training, authority and support of the persons are not seen.'],
      find: (data, policies) => both(answers(data), approvals(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-26.5',
      title: 'Article 26(5): monitoring of the operation by the deployer',
      asks: 'The deployer monitors the operation, and reports risks and serious incidents.',
      gaps: ['Reports to providers, importers, distributors and authorities are not recorded.', sender],
      find: (data, policies) => supported(detection(data), answers(data), enforcement(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-26.6',
      title: 'Article 26(6): logs kept by deployers',
      asks: 'The deployer keeps the logs that it controls for a suitable time, at least six months.',
      gaps: ['The retention is the setting at the cut-off. Logs outside of svc are not seen.'],
      find: (data, policies) => supported(retention(data), record(data), fromPolicies(policies)),
    },
    {
      control_id: 'eu-ai-act-26.11',
      title: 'Article 26(11): persons are informed of decisions about them',
      asks: 'The deployer informs persons about whom an Annex III system makes or assists decisions.',
      gaps: ['That a person received and understood the information is not seen.'],
      find: (_, policies) => fromPolicies(policies),
    },
    {
      control_id: 'eu-ai-act-50.1',
      title: 'Article 50(1): persons know that they interact with AI',
      asks: 'Persons who interact with the system are informed that it is AI, unless it is obvious.',
      gaps: ['The text of messages is not read: a policy checks what the step or the registration declares.'],
      find: (_, policies) => fromPolicies(policies),
    },
    {
      control_id: 'eu-ai-act-50.2',
      title: 'Article 50(2): synthetic content is marked',
      asks: 'Generated audio, images, video and text are marked in a machine-readable form.',
      gaps: ['svc does not inspect generated content for marks: a policy checks what a step declares.'],
      find: (_, policies) => fromPolicies(policies),
    },
    {
      control_id: 'eu-ai-act-50.3',
      title: 'Article 50(3): emotion recognition and biometric categorisation',
      asks: 'Persons exposed to such a system are informed of it.',
      gaps: ['svc has no fields for it.'],
    },
    {
      control_id: 'eu-ai-act-50.4',
      title: 'Article 50(4): deep fakes and published text are disclosed',
      asks: 'Deep fakes, and generated text that informs the public, are disclosed as artificial.',
      gaps: ['svc does not recognise deep fakes: a policy checks what a step declares.'],
      find: (_, policies) => fromPolicies(policies),
    },
  ],
}
