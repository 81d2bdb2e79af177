package import APIKit
import AppStorePayloads
package import AppleRecords
import Base
import HTTPTypes
import Logging
import Postgres

extension APIEndpoint where Access == AccountAccess {
    /// Records or withdraws the customer's consent.
    package static func consumptionConsent(_ consents: Consents) -> AccountEndpoint {
        var endpoint = AccountEndpoint(
            .put, "/v1/consents/consumption", "putConsumptionConsent",
            "The customer's consent to send Apple figures of use, for refund requests. Counts from the answer on.",
            for: .account,
            successes: [
                APISuccess(
                    "It is on record.",
                    .named(
                        "Consent",
                        .object([
                            .required("granted", .boolean, "Whether the customer agrees now."),
                            .required("recordedAt", .time, "Since when."),
                        ])))
            ]
        ) { request in
            let caller = try request.requireCaller()
            guard let body = request.body, let granted = body.bool("granted") else {
                throw APIProblem(.invalidRequest, ProblemText("granted is missing", "缺少 granted", "缺少 granted"))
            }
            let text = body.string("text")
            let person = caller.isServer ? "server key \(request.serverKey ?? 0)" : "the app"
            let recorded = try await APIProblem.withinBudget {
                try await consents.record(caller.account, granted: granted, text: text, by: person, isBudgeted: true)
            }
            let at = Timestamp(millisecondsSince1970: recorded.recordedAt.millisecondsSince1970)
            return APIAnswer(
                .ok, ["granted": .bool(granted), "recordedAt": .time(at)],
                log: ["granted": granted ? "yes" : "no", "consent": "\(recorded.id)"])
        }
        endpoint.body = APIBody(
            .named(
                "ConsentRequest",
                .ruled(
                    .object([
                        .required("granted", .boolean),
                        .optional(
                            "text", .string(.init(1, Consents.maximumTextLength)),
                            "What the customer was shown, word for word; has to be there where granted is true."),
                    ]), [.text("text", whereTrue: "granted")])))
        endpoint.problems = [.writeBudget]
        endpoint.isLogged = true
        return endpoint
    }
}
