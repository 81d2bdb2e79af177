import AppStorePayloads
import Base
package import EventStore
package import Events
package import Foundation
import Logging
package import Postgres
import PurchaseStore
import Schema
package import TestSupport

/// A migrated database of a test's own, with endpoints and events in it.
package struct EndpointSite: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    /// The database.
    package let database: TestDatabase
    /// Connections to it.
    package let pool: PostgresPool
    /// What secrets are encrypted with.
    package let key: SecretKey
    /// The endpoints.
    package let store: EndpointStore
    /// The events.
    package let events: EventStore

    /// Runs `body` with one.
    package static func with<T>(_ body: (EndpointSite) async throws -> T) async throws -> T {
        try await withTestDatabase(from: template) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 12, logger: quiet)
            guard let key = SecretKey(bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max) }) else {
                throw NeverHappened("a key of 32 bytes")
            }
            let site = EndpointSite(
                database: database, pool: pool, key: key, store: EndpointStore(pool), events: EventStore(pool))
            do {
                let value = try await body(site)
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    /// Adds an endpoint.
    @discardableResult
    package func add(
        _ url: String = "https://example.com/hook", _ filter: EndpointFilter = EndpointFilter(),
        rate: EndpointStore.RateLimit = .none, inFlight: Int = 32, secret: WebhookSecret = WebhookSecret()
    ) async throws -> Endpoint {
        try await store.add(
            StrictURL(url), filter, rate: rate, inFlight: inFlight, secret: secret, key, by: "test")
    }

    /// Writes so many events of an account as one transaction does, its next ones, and gives them their places.
    package func write(
        _ count: Int = 1, of account: Int, kind: String = "subscription.renewed", environment: String = "Production",
        app: String? = "com.example.app", place: Bool = true
    ) async throws {
        try await pool.query(Self.writing(count, of: account, kind: kind, environment: environment, app: app))
        if place { try await self.place() }
    }

    /// Writes so many events of an account as one transaction does, its next ones; they have no places.
    package static func writing(
        _ count: Int = 1, of account: Int, kind: String = "subscription.renewed", environment: String = "Production",
        app: String? = "com.example.app"
    ) -> PostgresQuery {
        """
        with last as (
            select coalesce(max(sequence), 0) as sequence from storehook.events
             where token = \(token(account)) and environment = \(environment)
        ), event as (
            insert into storehook.events (kind, environment, bundle_id, token, version, sequence, at, is_late, is_correction,
                                          content)
            select \(kind), \(environment), \(app), \(token(account)), 1, last.sequence + n, now(), false, false, '"number":' || n
              from last, generate_series(1, \(Int64(count))) n
            returning id, told_at
        )
        insert into storehook.events_unplaced (id, more, told_at)
        select ids[1], nullif(ids[2:], '{}'), told_at
          from (select array_agg(id order by id) as ids, min(told_at) as told_at from event) told
         where ids is not null
        """
    }

    /// Gives every event that is committed its place.
    package func place() async throws { while try await events.place() > 0 {} }

    /// Deals out to an endpoint all that there is.
    package func deal(_ id: Int64) async throws {
        while true {
            let dealt = try await store.deal(id)
            if dealt.events == 0, dealt.lanes == 0 { return }
        }
    }

    /// A value that a statement answers.
    package func value<T: PostgresDecodable & Sendable>(
        _ query: PostgresQuery, as: T.Type = T.self
    ) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// An account of these tests.
    package static func token(_ number: Int) -> UUID {
        UUID(UniqueIdentifier(high: 0xACC0, low: UInt64(number)))
    }
}
