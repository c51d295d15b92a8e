"""``arrastre.v1.AnalysisService``: what each call does, and how it refuses."""

from __future__ import annotations

import logging
from typing import NoReturn

import grpc
from google.rpc import code_pb2, status_pb2
from grpc_status import rpc_status

import arrastre
from arrastre.errors import ArrastreError
from arrastre.server import convert
from arrastre.server.workers import BusyError, Workers
from arrastre.v1 import analysis_service_pb2, analysis_service_pb2_grpc

SERVICE = analysis_service_pb2.DESCRIPTOR.services_by_name["AnalysisService"].full_name

MAX_LOGGED = 4000

log = logging.getLogger(__name__)

SolveContext = grpc.aio.ServicerContext[analysis_service_pb2.SolveRequest, analysis_service_pb2.SolveResponse]


class AnalysisService(analysis_service_pb2_grpc.AnalysisServiceServicer):
    """Answers with what the library answers; all reading and thinking is done by ``workers``.

    No search takes longer than ``max_seconds``.
    """

    def __init__(self, workers: Workers, max_seconds: float) -> None:
        self._workers = workers
        self._max_seconds = max_seconds

    async def Solve(  # noqa: N802 - the name is the service's
        self, request: analysis_service_pb2.SolveRequest, context: SolveContext
    ) -> analysis_service_pb2.SolveResponse:
        """The exact value of every legal action, and one line of best play."""

        def work(native: arrastre.Context) -> analysis_service_pb2.Solution:
            options = convert.request_options(request, self._max_seconds)
            position = convert.request_position(request)
            return convert.solution_message(arrastre.solve(position, context=native, **options).to_dict())

        try:
            solution = await self._workers.run(work)
        except ArrastreError as error:
            await _abort(context, convert.refusal(error))
        except BusyError:
            await _abort(context, convert.status(code_pb2.RESOURCE_EXHAUSTED, "BUSY", "too much work is waiting"))
        except Exception:
            # The caller learns nothing of the inside of the server; the log keeps what it takes to reproduce the fault.
            log.exception("Solve failed on %s", str(request)[:MAX_LOGGED])
            await _abort(context, convert.status(code_pb2.INTERNAL, "INTERNAL", "the server failed on this request"))
        return analysis_service_pb2.SolveResponse(id=request.id, solution=solution)


async def _abort(context: SolveContext, status: status_pb2.Status) -> NoReturn:
    answer = rpc_status.to_status(status)
    await context.abort(answer.code, answer.details, answer.trailing_metadata)
