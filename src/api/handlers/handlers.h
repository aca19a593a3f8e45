// All handlers. Each is in a file named after what it does; docs/protocol has their routes.
#pragma once

#include "api/api.h"
#include "api/http/message.h"

namespace perdure::handlers {

Task<Response> submit_jobs(Api& api, const Request& request);
Task<Response> list_jobs(Api& api, const Request& request);
Task<Response> show_job(Api& api, const Request& request);
Task<Response> list_attempts(Api& api, const Request& request);
Task<Response> show_result(Api& api, const Request& request);
Task<Response> wait_for_job(Api& api, const Request& request, ChunkedBody& body);
Task<Response> explain_job(Api& api, const Request& request);
Task<Response> explain_policy_of_job(Api& api, const Request& request);
Task<Response> explain_policy_for(Api& api, const Request& request);
Task<Response> list_policies(Api& api, const Request& request);
Task<Response> read_logs(Api& api, const Request& request, ChunkedBody& body);

Task<Response> cancel_job(Api& api, const Request& request);
Task<Response> hold_job(Api& api, const Request& request);
Task<Response> unhold_job(Api& api, const Request& request);
Task<Response> retry_job(Api& api, const Request& request);
Task<Response> add_callback(Api& api, const Request& request);
Task<Response> release_job(Api& api, const Request& request);
Task<Response> accept_job(Api& api, const Request& request);
Task<Response> discard_job(Api& api, const Request& request);

Task<Response> list_queues(Api& api, const Request& request);
Task<Response> pause_queue(Api& api, const Request& request);
Task<Response> resume_queue(Api& api, const Request& request);
Task<Response> list_limits(Api& api, const Request& request);
Task<Response> set_limit(Api& api, const Request& request);
Task<Response> list_workers(Api& api, const Request& request);
Task<Response> drain_worker(Api& api, const Request& request);

Task<Response> list_tokens(Api& api, const Request& request);
Task<Response> create_token(Api& api, const Request& request);
Task<Response> revoke_token(Api& api, const Request& request);
Task<Response> list_audit(Api& api, const Request& request);

Task<Response> show_server(Api& api, const Request& request);
Task<Response> show_account(Api& api, const Request& request);
Task<Response> list_recoveries(Api& api, const Request& request);
Task<Response> recover_now(Api& api, const Request& request);
Task<Response> start_backup(Api& api, const Request& request);
Task<Response> show_backup(Api& api, const Request& request);
Task<Response> check_store(Api& api, const Request& request);
Task<Response> discard_row(Api& api, const Request& request);
Task<Response> is_alive(Api& api, const Request& request);
Task<Response> is_ready(Api& api, const Request& request);
Task<Response> show_metrics(Api& api, const Request& request);

Task<Response> open_session(Api& api, const Request& request);
Task<Response> take_heartbeat(Api& api, const Request& request);
Task<Response> take_report(Api& api, const Request& request);
Task<Response> ask_inside(Api& api, const Request& request);
Task<Response> take_logs(Api& api, const Request& request);
Task<Response> stream_work(Api& api, const Request& request, ChunkedBody& body);

}  // namespace perdure::handlers
