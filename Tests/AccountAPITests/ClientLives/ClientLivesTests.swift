import Base
import Foundation
import TestSupport
import Testing

@testable import Simulation

@Suite("Lives in the stand-in's shop, seen through the client while the network fails")
struct ClientLivesTests {
    /// Brings the server what Apple posts: one in ten never, one in ten two hours late.
    private struct Mail {
        private var listed = 0
        private var late: [(post: ListedPost, due: Milliseconds)] = []
        private var chance: TestSupport.SeededGenerator

        init(seed: UInt64) { chance = TestSupport.SeededGenerator(seed: seed) }

        mutating func deliver(_ site: LivesSite) async throws {
            let posts = await site.store.posts
            var arrived = late.filter { $0.due <= site.now }.map(\.post)
            late.removeAll { $0.due <= site.now }
            for post in posts[listed...] {
                switch UInt64.random(in: 0..<10, using: &chance) {
                case 0: break
                case 1: late.append((post, site.now + .hours(2)))
                default: arrived.append(post)
                }
            }
            listed = posts.count
            try await site.hear(arrived)
        }
    }

    @Test(
        "allow what the server says, what the App Store holds unjudged, or what was kept; nothing that was taken back; lock out no customer who has paid"
    )
    func lives() async throws {
        // By default one in so many.
        let share = 25
        let seeds = sampledSeeds(of: 300, oneIn: UInt64(share))
        print("client lives: seeds \(seeds.first ?? 0) to \(seeds.last ?? 0)")
        let (figures, wrongs) = try await LivesSite.with { site in try await Self.live(seeds, site) }
        for wrong in wrongs.prefix(5) { Issue.record("\(wrong)") }
        #expect(wrongs.isEmpty, "\(wrongs.count)")
        print("client lives: \(figures)")
        #expect(figures.allowed > seeds.count && figures.failures > seeds.count)
        #expect(
            isEnough(figures.byStore, of: 100, oneIn: share) && isEnough(figures.byCache, of: 20, oneIn: share),
            "\(figures)")
    }

    @MainActor private static func live(
        _ seeds: [UInt64], _ site: LivesSite
    ) async throws -> (figures: LifeFigures, wrongs: [String]) {
        var mail = Mail(seed: seeds.first ?? 0)
        var lives: [ClientLife] = []
        for seed in seeds { lives.append(try await ClientLife(seed, in: site)) }
        let end = LivesSite.start + .days(55)
        while let next = lives.map(\.next).min(), next < end {
            try await site.go(to: max(next, site.now))
            try await mail.deliver(site)
            for life in lives where life.next <= site.now { try await life.act() }
        }
        var figures = LifeFigures()
        for life in lives { figures += life.figures }
        return (figures, lives.flatMap(\.wrongs))
    }
}
