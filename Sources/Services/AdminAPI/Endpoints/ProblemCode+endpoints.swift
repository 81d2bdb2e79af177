import APIKit
import Base
import EventStore
import HTTPTypes
import Postgres

extension ProblemCode {
    /// There is no such endpoint, or it is another app's.
    static let noEndpoint = ProblemCode(.notFound, "endpoint_not_found", "There is no such endpoint")
    /// There is no such delivery, or it is another app's.
    static let noDelivery = ProblemCode(.notFound, "delivery_not_found", "There is no such delivery")
    /// There is no such event, or it is another app's.
    static let noEvent = ProblemCode(.notFound, "event_not_found", "There is no such event")
    /// It waits already.
    static let deliveryPending = ProblemCode(.conflict, "delivery_pending", "The delivery is still to be made")
    /// Nothing is left to send, or the endpoint does not want it.
    static let notResent = ProblemCode(.conflict, "delivery_not_resent", "There is nothing to send again")
    /// As many former secrets sign as may.
    static let tooManySecrets = ProblemCode(.conflict, "too_many_secrets", "Too many secrets sign already")
    /// The console was started without the key that secrets are encrypted with.
    static let noSecretKey = ProblemCode(.conflict, "no_secret_key", "The console has no key for secrets")
}

extension TooManyFormerSecrets {
    /// The problem that it is. Without the command, which is for people with a terminal.
    var problem: APIProblem {
        APIProblem(
            .tooManySecrets,
            ProblemText(
                english:
                    "\(EndpointStore.mostFormerSecrets) former secrets sign as well: wait until the first of them has ended, or say atOnce, which ends all of them"
            ), members: firstEndsAt.map { [.init("firstEndsAt", .time(Timestamp($0)))] } ?? [])
    }
}
