import AppStorePayloads
import Base

/// A path under `/stand-in`: how it is called, and with what.
struct ControlPath: Sendable, Hashable {
    /// GET or POST.
    let method: String
    /// What follows `/stand-in/`.
    let name: String
    /// The members that a body may have; none for GET.
    let members: [Member]
    /// A body.
    let example: String

    /// A member of a body.
    struct Member: Sendable, Hashable {
        let name: String
        let isNeeded: Bool

        private static let numbers: Set = [
            "advanceSeconds", "clockAheadSeconds", "code", "count", "endingAt", "notifications", "percentage", "rate",
            "retryAfterMilliseconds", "seed", "subscribers",
        ]
        private static let flags: Set = ["fails", "isRetryable", "posted"]

        /// What its value has to be, where this value is something else; null is as if it were left out.
        func fault(of value: JSONElement) -> String? {
            guard !value.isNull else { return nil }
            if Self.numbers.contains(name) { return value.integer == nil ? "a whole number" : nil }
            if Self.flags.contains(name) { return value.bool == nil ? "true or false" : nil }
            if name == "speed", value.integer != nil { return nil }
            return value.string == nil ? "a text" : nil
        }

        /// `customer?` where it may be left out.
        var text: String { isNeeded ? name : name + "?" }
    }

    private static func post(_ name: String, _ members: String, _ example: String) -> ControlPath {
        ControlPath(
            method: "POST", name: name,
            members: members.split(separator: " ").map { word in
                Member(name: String(word.prefix { $0 != "?" }), isNeeded: !word.hasSuffix("?"))
            }, example: example)
    }

    private static func get(_ name: String) -> ControlPath {
        ControlPath(method: "GET", name: name, members: [], example: "")
    }

    private static let subscription = #"{"originalTransactionId":"510000000000"}"#
    private static let transaction = #"{"transactionId":"510000000000"}"#

    /// All of them, by name.
    static let all: [ControlPath] = [
        .post("billing", "originalTransactionId fails", #"{"originalTransactionId":"510000000000","fails":true}"#),
        .post("cancellations", "originalTransactionId", subscription),
        .post("clock", "advanceSeconds? speed? customer? environment?", #"{"advanceSeconds":86400}"#),
        .post(
            "consumption-requests", "transactionId reason?",
            #"{"transactionId":"510000000000","reason":"UNINTENDED_PURCHASE"}"#),
        .get("customers"),
        .post("errors", "code count? path? retryAfterMilliseconds? isRetryable?", #"{"code":4290000,"count":3}"#),
        .post("family", "originalTransactionId", subscription),
        .post("faults", "postResult? keyRefusedIn? clockAheadSeconds?", #"{"postResult":"TIMED_OUT"}"#),
        .post("finish", "customer transactionId", #"{"customer":"maria","transactionId":"510000000000"}"#),
        .post("forgeries", "count?", #"{"count":1}"#),
        .post("loss", "rate customer? environment?", #"{"rate":50}"#),
        .post(
            "past", "notifications subscribers? seed? endingAt? posted? environment?",
            #"{"notifications":1000,"subscribers":100}"#),
        .post(
            "plan-changes", "originalTransactionId productId",
            #"{"originalTransactionId":"510000000000","productId":"com.example.storehook.premium.monthly"}"#),
        .get("posts"),
        .get("products"),
        .post(
            "purchases", "productId customer? appAccountToken? environment? offer?",
            #"{"productId":"com.example.storehook.basic.monthly","customer":"maria"}"#),
        .post("reactivations", "originalTransactionId", subscription),
        .get("received"),
        .post("refund-declines", "transactionId", transaction),
        .post("refund-reversals", "transactionId", transaction),
        .post("refunds", "transactionId percentage?", #"{"transactionId":"510000000000","percentage":100}"#),
        .get("truth"),
    ]

    /// `{productId, customer?}`
    var usage: String { "{\(members.map(\.text).joined(separator: ", "))}" }

    /// The path itself.
    private var path: String { "/stand-in/\(name)" + (name == "customers" ? "/CUSTOMER" : "") }

    /// What `GET /stand-in` answers.
    static var list: JSONValue {
        .array(
            all.map { path in
                .members([
                    "method": .string(path.method), "path": .string(path.path),
                    "members": path.method == "GET" ? nil : .texts(path.members.map(\.text)),
                    "example": path.method == "GET" ? nil : .string(path.example),
                ])
            })
    }

    /// The path of a call.
    /// - Throws: 404 with the paths that there are, or 405 with the method.
    static func of(_ call: Call) throws(Refusal) -> ControlPath {
        let name = call.parts.count > 1 ? call.parts[1] : ""
        guard let path = all.first(where: { $0.name == name }),
            call.parts.count == 2 || (name == "customers" && call.parts.count == 3)
        else {
            func names(_ method: String) -> String {
                all.filter { $0.method == method }.map { String($0.path.dropFirst("/stand-in/".count)) }
                    .joined(separator: ", ")
            }
            throw Refusal(
                status: 404,
                "no such path under /stand-in; there are GET \(names("GET")) and POST \(names("POST")); GET /stand-in lists their members"
            )
        }
        guard call.method == path.method else {
            let how = path.method == "GET" ? "" : " with \(path.usage), for example \(path.example)"
            throw Refusal(notAllowed: "\(path.path) takes \(path.method) only\(how)", instead: path.method)
        }
        return path
    }

    /// Refuses a body with other members than the path has.
    /// - Throws: 400 that names the member, and says which there are.
    func check(_ call: Call) throws(Refusal) {
        guard method == "POST" else { return }
        guard let body = try? call.object() else {
            throw Refusal(status: 400, "the body is no JSON object; for example \(example)")
        }
        let given = body.members
        for (name, value) in given {
            guard let member = members.first(where: { $0.name == name }) else {
                throw Refusal(status: 400, "\(Self.shown(name)) is no member of \(path); its members: \(usage)")
            }
            if let kind = member.fault(of: value) {
                throw Refusal(status: 400, "\(name) has to be \(kind); for example \(example)")
            }
        }
        for member in members where member.isNeeded && given.first(where: { $0.name == member.name }) == nil {
            throw Refusal(status: 400, "\(member.name) is missing; the members: \(usage), for example \(example)")
        }
    }

    /// A name that a caller wrote.
    private static func shown(_ name: String) -> String { name.count > 60 ? "\(name.prefix(60))…" : name }
}
