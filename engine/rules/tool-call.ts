// Tells if a step calls a tool. The caller states the type of a step, and another type must not hide a tool
// (docs/design/engine.md §3, 19).
import { isMap } from '@svc/proof'
import { canonicalType, type JsonMap, type Step } from '@svc/schemas'
import { hasGateForm } from './gates/gate-words.js'
import { compileStepField } from './selection/lookup.js'

/** Steps of these types often have no name; a name is the one of a tool. */
const withOptionalName: ReadonlySet<string> = new Set(['step.message', 'step.exec', 'step.self', 'step.credential'])
const lifeCycle: ReadonlySet<string> = new Set(['task.start', 'task.end', 'task.error', 'task.idle'])

const acts = ['exec.command', 'target.path', 'tool.source'].map((path) => compileStepField(path, 'field'))

/**
 * True for a step whose name must be the one of a tool. A model, a gate and the life of a task have names of their own:
 * there a name counts when it is a known tool, or when the step does not have the form of its type. Throws AmbiguousField.
 */
export function callsTool(step: Step, isKnown: (name: string) => boolean): boolean {
  const { step_name } = step
  const type = canonicalType(step.step_type)
  if (withOptionalName.has(type)) return step_name !== undefined
  if (type === 'step.model') return step_name !== undefined && (isKnown(step_name) || !isModelCall(step))
  if (type === 'step.gate') return step_name !== undefined && (isKnown(step_name) || !isCheck(step))
  if (lifeCycle.has(type)) return step_name !== undefined && (isKnown(step_name) || !isLifeCycle(step, type))
  return true
}

function isModelCall(step: Step): boolean {
  const { verb, input } = step
  if (verb !== undefined && verb !== 'POST' && verb !== 'GET') return false
  return (isEmpty(input) || isModelRequest(input)) && !isAct(step)
}

function isCheck(step: Step): boolean {
  return ((step.verb === undefined && isEmpty(step.input)) || hasGateForm(step)) && !isAct(step)
}

/** A start is given the request of the task. */
function isLifeCycle(step: Step, type: string): boolean {
  return step.verb === undefined && (type === 'task.start' || isEmpty(step.input)) && !isAct(step)
}

function isAct(step: Step): boolean {
  return acts.some((get) => get(step) !== null)
}

function isEmpty(input: JsonMap | undefined): input is undefined {
  return input === undefined || Object.keys(input).length === 0
}

/**
 * Members in which models are asked: OpenAI (chat, responses, completions, embeddings, moderations), rerankers, Anthropic
 * (messages), Gemini (generateContent, embedContent), Bedrock (InvokeModel, Converse), Cohere, Hugging Face and Ollama. Each
 * alone makes a request: the arguments of a tool have other names.
 */
const asked = ['messages', 'prompt', 'prompts', 'system', 'instructions', 'contents', 'model', 'inputText']

/** Members in which models are asked as well, but which tools use too: the other members must be those of a request. */
const content = new Set(['input', 'inputs', 'text', 'texts', 'message', 'documents', 'passages'])

/** Members that control the answer of a model. A request whose content was left out has only these. */
const sampling = new Set(
  (
    'temperature top_p topP top_k topK min_p max_tokens maxTokens max_completion_tokens max_output_tokens maxOutputTokens ' +
    'max_new_tokens max_tokens_to_sample maxTokenCount max_gen_len num_predict frequency_penalty presence_penalty ' +
    'repetition_penalty repeat_penalty logit_bias logprobs top_logprobs reasoning reasoning_effort thinking ' +
    'generationConfig generation_config inferenceConfig textGenerationConfig additionalModelRequestFields'
  ).split(' '),
)

/** Further members of requests, which say nothing by themselves: tools have arguments of these names. */
const settings = new Set(
  (
    'query user metadata store stream stream_options n seed stop stop_sequences stopSequences tools tool_choice toolConfig ' +
    'tool_config parallel_tool_calls max_tool_calls functions function_call response_format service_tier modalities audio ' +
    'prediction prompt_cache_key safety_identifier verbosity web_search_options previous_response_id conversation include ' +
    'background truncation context_management dimensions encoding_format input_type embedding_types output_dimension ' +
    'outputDimensionality output_dtype taskType embeddingTypes normalize truncate top_n return_documents rank_fields ' +
    'max_chunks_per_doc max_tokens_per_doc systemInstruction system_instruction safetySettings safety_settings cachedContent ' +
    'labels anthropic_version anthropic_beta mcp_servers container guardrailConfig guardrailIdentifier performanceConfig ' +
    'promptVariables requestMetadata additionalModelResponseFieldPaths preamble chat_history parameters options format ' +
    'template raw keep_alive images suffix think context echo best_of'
  ).split(' '),
)

/** True for the input of a request to a model. */
function isModelRequest(input: JsonMap): boolean {
  if (asked.some((name) => Object.hasOwn(input, name))) return true
  const names = Object.keys(input)
  // Tools that search have a query alone; a reranker is given its documents too.
  if (names.includes('query') && !ranked.some((name) => names.includes(name))) return false
  // The arguments of a tool can be wrapped in an object.
  if (names.some((name) => content.has(name) && isMap(input[name]))) return false
  const isMember = (name: string) => content.has(name) || sampling.has(name) || settings.has(name)
  return names.every(isMember) && names.some((name) => content.has(name) || sampling.has(name))
}

const ranked = ['documents', 'texts', 'passages']
