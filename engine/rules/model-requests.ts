// The members of requests to models: OpenAI (chat, responses, completions, embeddings, moderations), rerankers, Anthropic
// (messages), Gemini (generateContent, embedContent), Bedrock (InvokeModel, Converse), Cohere, Hugging Face and Ollama.
import type { JsonMap } from '@svc/schemas'

/** Members in which models are asked. Each alone makes a request: the arguments of a tool have other names. */
const asked = ['messages', 'prompt', 'prompts', 'system', 'instructions', 'contents', 'model', 'inputText']

/** Members in which models are asked as well, but which tools use too: the other members must be those of a request. */
const content = new Set(['input', 'inputs', 'text', 'texts', 'message', 'documents', 'passages'])

/** How a model answers. A request whose content was left out has only these. */
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
export function isModelRequest(input: JsonMap): boolean {
  if (asked.some((name) => Object.hasOwn(input, name))) return true
  const names = Object.keys(input)
  // Tools that search have a query alone; a reranker is given its documents too.
  if (names.includes('query') && !ranked.some((name) => names.includes(name))) return false
  if (names.some((name) => content.has(name) && isMap(input[name]))) return false
  const isMember = (name: string) => content.has(name) || sampling.has(name) || settings.has(name)
  return names.every(isMember) && names.some((name) => content.has(name) || sampling.has(name))
}

const ranked = ['documents', 'texts', 'passages']

/** The arguments of a tool can be wrapped in an object. */
function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
