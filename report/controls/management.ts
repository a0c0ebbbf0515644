// ISO/IEC 42001, the SOC 2 criteria on system operations, and drafts of standards on logging.
import { counted } from '../content/figures.js'
import type { Framework } from './definition.js'
import { both, fromPolicies, supported } from './sentences.js'
import { answers, detection, enforcement, record, recording } from './shown.js'

export const iso42001: Framework = {
  id: 'iso-42001',
  title: 'ISO/IEC 42001',
  source: 'ISO/IEC 42001:2023, Annex A',
  draft: false,
  controls: [
    {
      control_id: 'iso-42001-a.6.2.8',
      title: 'A.6.2.8: recording of event logs',
      asks: 'The organization determines when event logs are recorded over the life cycle, at least while the system is in use.',
      gaps: [
        'The decision of the organization on which phases are logged is outside of the log.',
        'Steps that an agent never sent are not in the log.',
      ],
      find: (data, policies) => supported(recording(data), fromPolicies(policies)),
    },
  ],
}

const beyond = 'Networks, hosts, accounts and software outside of the recorded agents are not seen.'

export const soc2: Framework = {
  id: 'soc2',
  title: 'SOC 2',
  source: 'AICPA Trust Services Criteria, CC7: system operations',
  draft: false,
  controls: [
    {
      control_id: 'soc2-cc7.1',
      title: 'CC7.1: changes of configuration and new vulnerabilities are detected',
      asks: 'Detection and monitoring identify changes of configuration that bring vulnerabilities, and new vulnerabilities.',
      gaps: ['svc scans for no vulnerabilities; it records changes of its own policies, members and keys.', beyond],
      find: ({ oversight: { changes } }, policies) => {
        const number = changes.rows.length + changes.more
        const evidence =
          number > 0 ? [`${counted(number, 'change')} of people, roles, keys and settings in the audit trail.`] : []
        return both({ evidence, problems: [], parts: number > 0 ? ['oversight'] : [] }, fromPolicies(policies))
      },
    },
    {
      control_id: 'soc2-cc7.2',
      title: 'CC7.2: components are monitored for anomalies',
      asks: 'Components are monitored for anomalies, which are analysed for whether they are security events.',
      gaps: ['Anomalies for which no policy exists are not recognised.', beyond],
      find: (data, policies) => supported(both(detection(data), fromPolicies(policies)), enforcement(data)),
    },
    {
      control_id: 'soc2-cc7.3',
      title: 'CC7.3: security events are evaluated',
      asks: 'Security events are evaluated for whether they could or did keep the organization from its objectives.',
      gaps: ['The reasons of an evaluation are known only as far as notes on incidents state them.', beyond],
      find: (data, policies) => both(answers(data), fromPolicies(policies)),
    },
    {
      control_id: 'soc2-cc7.4',
      title: 'CC7.4: incidents are answered',
      asks: 'Security incidents are contained, remediated and communicated under a defined programme.',
      gaps: ['The programme, and communication outside of the platform, are not seen.', beyond],
      find: (data, policies) => supported(both(answers(data), fromPolicies(policies)), record(data)),
    },
    {
      control_id: 'soc2-cc7.5',
      title: 'CC7.5: recovery from incidents',
      asks: 'Activities to recover from security incidents are identified, carried out and tested.',
      gaps: ['svc records the state of an incident, not the recovery of systems.'],
    },
  ],
}

const notMapped =
  'The document is a draft: its final text can differ, and no clause of it is mapped. See the rows of Articles 12, 19 and 26.'

export const drafts: readonly Framework[] = [
  {
    id: 'pren-18229-1',
    title: 'prEN 18229-1',
    source: 'prEN 18229-1, draft of CEN-CENELEC JTC 21',
    draft: true,
    controls: [
      {
        control_id: 'pren-18229-1',
        title: 'AI trustworthiness framework, Part 1: logging',
        asks: 'Terms, concepts, requirements and guidance for the logging of AI systems.',
        gaps: [notMapped, 'It gives no presumption of conformity before it is cited in the Official Journal.'],
      },
    ],
  },
  {
    id: 'iso-iec-dis-24970',
    title: 'ISO/IEC DIS 24970',
    source: 'ISO/IEC DIS 24970, draft of ISO/IEC JTC 1/SC 42',
    draft: true,
    controls: [
      {
        control_id: 'iso-iec-dis-24970',
        title: 'AI system logging',
        asks: 'Purposes, design, triggers and content of the logs of AI systems.',
        gaps: [notMapped, 'Hardware, model internals and events outside of the recorded steps are not logged by svc.'],
      },
    ],
  },
]
