public import AppStorePayloads
public import Base

/// A customer's auto-renewable subscriptions, as Get All Subscription Statuses lists them.
public struct SubscriptionStatuses: Sendable {
    /// One subscription group.
    public struct Group: Sendable {
        /// The group.
        public let subscriptionGroupIdentifier: String?
        /// Its subscriptions.
        public let lastTransactions: [LastTransaction]
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// One subscription.
    public struct LastTransaction: Sendable {
        /// Apple's status of it. Not signed: evidence that never decides.
        public let status: AppleStatus?
        /// The subscription.
        public let originalTransactionId: String?
        /// Its latest transaction; nil where it is missing or was refused.
        public let transaction: SignedRecord<TransactionPayload>?
        /// Its renewal info; nil where it is missing or was refused.
        public let renewal: SignedRecord<RenewalInfoPayload>?
        /// What this release does not know, by name, as JSON texts.
        public let unknownFields: [String: [UInt8]]
    }

    /// The groups.
    public let groups: [Group]
    /// Why records are missing above: what does not verify is left out.
    public let refused: [RefusedRecord]
    /// The app.
    public let bundleId: String?
    /// The app's Apple ID.
    public let appAppleId: Int64?
    /// Where the purchases were made.
    public let environment: Environment?
    /// What this release does not know, by name, as JSON texts.
    public let unknownFields: [String: [UInt8]]

    init(_ reader: inout AnswerReader) throws(AnswerFault) {
        let object = reader.object
        guard let items = object.has("data") ? object.objects("data") : [] else {
            throw .unreadable("data is no list of objects")
        }
        var groups: [Group] = []
        var count = 0
        for item in items {
            guard let lines = item.has("lastTransactions") ? item.objects("lastTransactions") : [] else {
                throw .unreadable("lastTransactions is no list of objects")
            }
            count += lines.count
            try reader.require(count, upTo: AnswerBounds.records)
            groups.append(
                Group(
                    subscriptionGroupIdentifier: item.string("subscriptionGroupIdentifier"),
                    lastTransactions: lines.map { LastTransaction($0, &reader) },
                    unknownFields: item.members(except: ["subscriptionGroupIdentifier", "lastTransactions"])))
        }
        self.groups = groups
        refused = reader.refused
        bundleId = try reader.text(.bundleId)
        appAppleId = object.integer("appAppleId")
        environment = try reader.text(.environment).map(Environment.init(rawValue:))
        unknownFields = object.members(except: ["data", "bundleId", "appAppleId", "environment"])
    }
}

extension SubscriptionStatuses.LastTransaction {
    fileprivate init(_ item: JSONObject, _ reader: inout AnswerReader) {
        status = item.integer("status").map(AppleStatus.init(rawValue:))
        originalTransactionId = item.string("originalTransactionId")
        transaction = item.string("signedTransactionInfo").flatMap { reader.listedTransaction($0) }
        let beside = transaction?.payload
        renewal = item.string("signedRenewalInfo").flatMap { reader.listedRenewal($0, beside: beside) }
        unknownFields = item.members(
            except: ["status", "originalTransactionId", "signedTransactionInfo", "signedRenewalInfo"])
    }
}
