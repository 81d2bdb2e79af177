import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// Rows of `events` to be written, column by column as they are sent.
struct EventRows {
    fileprivate var kinds: [String] = []
    fileprivate var environments: [String] = []
    fileprivate var bundleIDs: [String?] = []
    fileprivate var tokens: [UUID?] = []
    fileprivate var originalTransactionIDs: [String?] = []
    fileprivate var sequences: [Int64] = []
    fileprivate var versions: [Int64?] = []
    fileprivate var instants: [PostgresTimestamp] = []
    fileprivate var areLate: [Bool] = []
    fileprivate var areCorrections: [Bool] = []
    fileprivate var contents = PostgresTextArray()
    /// How many of each kind.
    private(set) var counts = EventCounts()

    var isEmpty: Bool { kinds.isEmpty }

    /// Adds the draft at a place: an event is large, and taken out of the array it would be copied.
    /// - Parameter version: the account's; nil where the event is in the purchase's own order.
    mutating func add(_ drafts: [EventDraft], _ place: Int, version: Int64?, sequence: Int64) {
        kinds.append(drafts[place].kind.rawValue)
        environments.append(drafts[place].environment)
        bundleIDs.append(drafts[place].bundleID)
        tokens.append(version == nil ? nil : drafts[place].account.map { UUID($0) })
        originalTransactionIDs.append(drafts[place].purchase?.originalTransactionID)
        sequences.append(sequence)
        versions.append(version)
        instants.append(PostgresTimestamp(drafts[place].instant))
        areLate.append(drafts[place].isLate)
        areCorrections.append(drafts[place].isCorrection)
        contents.append { drafts[place].writeContent(to: &$0) }
        counts.count(drafts, place)
    }
}

extension PostgresQuery {
    /// Writes events, the states that they report, and that the events have no position yet: all or nothing, in
    /// one statement.
    ///
    /// Arrays of equal length are unnested side by side in the select list; in FROM each would be stored by
    /// itself first.
    static func record(_ written: EventWriter.Written) -> PostgresQuery {
        let rows = written.events
        return PostgresQuery(
            "events.tell",
            """
            with \(embedding: .reporting(written.purchases, written.accounts)), event as (
                insert into storehook.events (
                    kind, environment, bundle_id, token, original_transaction_id, sequence, version, at, is_late,
                    is_correction, content)
                select unnest(\(rows.kinds)), unnest(\(rows.environments)), unnest(\(rows.bundleIDs)),
                       unnest(\(rows.tokens)), unnest(\(rows.originalTransactionIDs)), unnest(\(rows.sequences)),
                       unnest(\(rows.versions)), unnest(\(rows.instants)), unnest(\(rows.areLate)),
                       unnest(\(rows.areCorrections)), unnest(\(rows.contents))
                returning id, told_at
            )
            insert into storehook.events_unplaced (id, more, told_at)
            select ids[1], nullif(ids[2:], '{}'), told_at
              from (select array_agg(id order by id) as ids, min(told_at) as told_at from event) told
             where ids is not null
            """
        ).keepingPlan()
    }
}
