-- turns: put behind shared, in front of the scripts that charge; the queue across processes.
--
-- Each process has a queue of its callers, and asks for all of them in one call.
-- A call that leaves some waiting books a time to come back, its ticket. `turn`
-- is when all booked tokens are paid: who comes without a ticket books behind it
-- instead of barging in. A ticket beyond `turn` is void. While the queue lives
-- the level stays low, because those whose turn it is take what accrues; where
-- it does not, they have gone. `need` is the largest head booked since then. Who
-- finds that a long queue has gone, in its own turn or before it, is told so: those
-- who have booked in it and live sleep on, and it can wake them. Who books far ahead
-- is let look once before its turn; a process that was served a moment ago need not.
--
-- Where all are late (a stall, and the level at its brim) everybody's turn has
-- come, and small requests would take whatever a large one waits for. So a head
-- that is late by more than a horizon names its ticket as `first`: until it is
-- served, or the queue has gone, later tickets wait.
--
-- A state that is queued for has, beside what load gives: `max` tokens at most,
-- `speed` tokens a second, both in force; `level`, which rises to `brim` and
-- begins to in `lag` microseconds; of a window `free`, which tells when tokens are
-- free in its log, and whether it is `paced` by the level, too.

local TWO_MICROSECONDS = 2
local FAR   = 4 * SECOND           -- who is booked so far ahead looks once whether the queue lives
local PASSED = 10 * SECOND         -- who has not come so long after all was paid has gone: none sleeps longer
local LONG = SECOND                -- of a queue that has gone: those who sleep in it are worth waking
local SPARE = 0.2                  -- of what one call may charge ahead: more than that a live queue does not leave

-- fills returns in how many microseconds the level is there.
local function fills(s, level) return (level - s.level) / s.speed * SECOND + s.lag end

-- lapse_level is where nobody is left in the queue. n is what the first of those
-- who ask, or wait, want.
local function lapse_level(s, n) return math.min(s.brim, math.max(n, s.need) + s.within) end

-- largest_is_free returns in how many microseconds what n tokens, or the largest
-- head booked, take is free in a window's log.
local function largest_is_free(s, n) return s.free(s, math.min(s.max, math.max(n, s.need))) - s.now end

-- lapses returns in how many microseconds the queue has gone, if nobody claims
-- anything.
local function lapses(s, n)
  local wait = fills(s, lapse_level(s, n))
  if s.free then wait = math.max(wait, largest_is_free(s, n)) end
  return math.min(MAX_NUMBER, math.max(1, math.ceil(wait))) + 1
end

-- line_up finds where a call stands, whose first request wants n tokens.
local function line_up(s, n, horizon, ticket)
  s.horizon, s.within = horizon, s.speed * horizon / SECOND   -- what one call may charge ahead
  s.brim = s.free and s.max + s.within or s.max
  if s.turn > s.now and s.level >= lapse_level(s, n) and not (s.free and largest_is_free(s, n) > 0) then
    s.lapsed, s.turn, s.dirty = s.turn - s.now > LONG, 0, true
  end
  if s.turn <= s.now then s.need, s.first = 0, 0 end
  if s.turn < s.now - PASSED then s.turn = 0 end       -- a ticket of then counts no more
  s.ticket = ticket > s.turn and 0 or ticket
  s.due = s.ticket > 0 and s.ticket <= s.now
  s.behind = s.turn > s.now and not (s.due and (s.first == 0 or s.ticket <= s.first))
  s.followed = s.ticket > 0 and s.turn > s.ticket + horizon + 1   -- others have booked behind
end

-- wait_for returns how long n tokens take, whole microseconds, behind those of
-- this call who wait: until they are there, and in the place that is booked, or
-- else behind all that is. Bookings behind a ticket must not lengthen its wait,
-- or it would be refused after all.
local function wait_for(s, n)
  local all = s.ahead + n
  local wait = (all - s.level) / s.speed * SECOND + s.lag
  if s.free then
    local own = s.free(s, all) - s.now
    wait = s.paced and math.max(own, wait) or own
  elseif wait < TWO_MICROSECONDS then                  -- none: a sleep costs more
    wait = 0
  end
  if s.behind then
    local from, head = s.turn, s.head or n             -- the ticket was booked for the head
    if s.ticket > 0 then from = s.ticket - math.max(0, head / s.speed * SECOND - s.horizon) end
    if s.free and not s.followed then all = math.min(all, head) end   -- nobody paces the rest
    wait = math.max(wait, from - s.now + all / s.speed * SECOND)
  end
  return math.min(MAX_NUMBER, math.ceil(wait))
end

-- wait_behind lets a request wait in front of those that follow.
local function wait_behind(s, n, wait)
  if not s.head then s.head, s.wait = n, wait end
  s.ahead = s.ahead + n
end

-- served tells that something was charged.
local function served(s)
  s.charged = true
  if s.ticket == s.first then s.first = 0 end
end

-- book takes a place for those who wait behind all that is booked.
local function book(s)
  local base = math.max(s.turn, s.now + fills(s, 0))
  if s.free then
    base = math.max(base, s.free(s, s.head) - s.head / s.speed * SECOND)
    if s.turn <= s.now then s.level = (s.now - base) / SECOND * s.speed end   -- the first of a new queue
  end
  local wanted = math.max(s.head, math.min(s.ahead, s.within)) / s.speed * SECOND
  s.ticket = math.floor(math.min(MAX_NUMBER, math.max(s.now + 1, base + wanted - s.horizon)))
  s.turn, s.need, s.dirty = math.min(MAX_NUMBER, math.ceil(base + wanted)), math.max(s.need, s.head), true
end

-- reserve lets later tickets wait for the head, which starts in `wait`. What
-- comes beyond its n until then must not look as if the queue had gone.
local function reserve(s, wait)
  s.need = math.max(s.need, math.min(s.max, s.head + math.max(0, wait - s.wait) / SECOND * s.speed))
  s.first, s.turn, s.dirty = s.ticket, math.max(s.turn, math.min(MAX_NUMBER, s.now + lapses(s, s.head))), true
end

-- stand finds those who wait their place, and returns in how many microseconds to
-- ask again. The head starts in `wait`, which another bucket of a set may make
-- longer, or `blocked`, where it is behind there. True, too: not before.
local function stand(s, wait, blocked)
  local left = s.ticket - s.now
  if s.behind and s.due then                           -- a late one comes first, and those between
    local there = fills(s, s.need - s.within)
    if s.free then there = math.max(there, largest_is_free(s, 0) - s.horizon) end
    return math.min(MAX_NUMBER, math.max(1, math.ceil(there))) + s.ticket - s.first
  elseif s.behind and s.ticket > 0 then                -- asked early: the booking stands
    -- No live queue leaves so much: somebody's turn was missed.
    if s.level > math.max(0, s.need - s.within) + SPARE * s.within then return math.min(left, lapses(s, s.head)) end
    return left
  elseif not s.behind and s.wait <= s.horizon then     -- could be served now: it needs no place
    if s.first > 0 and s.first == s.ticket then reserve(s, wait) end
    return 1
  elseif s.behind or s.charged or s.ticket == 0 then
    local came, gone_in = s.ticket == 0, lapses(s, s.head)
    book(s)
    left = s.ticket - s.now
    return came and left > FAR and math.min(left, gone_in) or left   -- look once whether the queue lives
  end
  -- Its turn has come, and its tokens have not: it stands. If that is late the
  -- others wait for it, but not before the time in which they come from nothing:
  -- other buckets may take longer, and this one is not to idle for them.
  if not blocked and -left > s.horizon then
    local from_nothing = s.head / s.speed * SECOND + s.horizon
    if wait > math.max(s.wait, from_nothing) then return math.max(1, wait - from_nothing), true end
    reserve(s, wait)
  end
  return math.max(1, s.wait - s.horizon)
end
